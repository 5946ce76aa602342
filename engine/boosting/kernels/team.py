"""What a team of threads does to a node's rows and histograms, without the interpreter lock.

A piece of work takes some 50 microseconds, and waking a thread takes as long. So the threads of a team stay
in one kernel for a whole tree: the leader writes an order, all take pieces of it, and the leader looks at the
number of done ones until it is that of all.

An order is a row of int64 words. `LEFT` counts the pieces that nobody took yet. Who takes one lowers it in
one step and only then reads what is to be done: the order cannot change before that piece is done.
"""

from typing import Any, NamedTuple

from engine.boosting.kernels.calls import LOOKS_A_TURN, WORDS_A_LINE, say_begun
from engine.boosting.kernels.histogram import add_rows, unpack
from engine.boosting.kernels.partition import place_rows, split_rows
from engine.boosting.kernels.splitting import GAIN, KIND, NOISE, TIE_SHARE, SplitRules, find_best_split
from engine.jit import inner_kernel, kernel
from engine.kernels import atomics

ADD_ROWS, SPLIT_ROWS, PLACE_ROWS, POUR, SEARCH = range(5)
WORK, FIRST, N_ITEMS, CHUNK, N_PIECES, COLUMN, SLOT, PARENT = range(WORDS_A_LINE)
N_ASKED = COLUMN  # of a pouring: how many nodes to search as well
DONE = WORDS_A_LINE
LEFT = 2 * WORDS_A_LINE  # and a line on for each further thread
DISMISSED = -1  # as `LEFT`: there will be no more
CELLS_A_PIECE = 2048
NO_SLOT = -1
N_ADDED, N_POURED, N_OLD = range(3)  # places in a thread's `Desk.counts`
ASKED_SLOT, ASKED_COLUMNS, ASKED_WANTED = range(3)  # places in `Searches.asked`


class Searches(NamedTuple):
    """What is needed to search the splits of two nodes at once.

    Attributes
    ----------
    offsets, n_bins, is_categorical, directions : arrays (n_features or one more,)
        See `splitting.find_best_split`, as for the others.
    asked : int64 (2, 3)
        Where a node's histogram is, how many columns are allowed, and how many of them wanted.
    columns : int64 (2, n_features)
    rules : float64 (2, 8)
        `splitting.SplitRules`.
    keys, items : float64, int64 (n_threads, n_codes)
    goes_left : uint8 (2, n_codes)
    best : float64 (2, 6)
    best_of_pieces, goes_left_of_pieces : float64 (n_pieces, 2, 6), uint8 (n_pieces, 2, n_codes)
        The same among the columns of each piece of a histogram.
    """

    offsets: Any
    n_bins: Any
    is_categorical: Any
    directions: Any
    asked: Any
    columns: Any
    rules: Any
    keys: Any
    items: Any
    goes_left: Any
    best: Any
    best_of_pieces: Any
    goes_left_of_pieces: Any


class Desk(NamedTuple):
    """What the threads of a team work on.

    Attributes
    ----------
    codes : uint (n_samples, n_features)
    columns : uint (n_features, n_samples)
    offsets : uint64 (n_features + 1,)
    fixed : int32 (n_samples, n_channels)
    drawn, rows, lefts, rights : int32 (n_drawn,)
        Rows as they were drawn, and node by node once the root is parted; scratch of their partition.
    is_parted : uint8 (1,)
    goes_left : uint8 (n_codes,)
        Of the column that rows are parted by.
    n_left, left_at, right_at : int64 (n_pieces,)
        How many rows of a piece of the partition go left; where its left and right rows belong. As long
        as a partition can have pieces: nobody looks.
    packed : int64 (n_threads, n_all_cells, n_channels)
        What each thread has added up, see `kernels.histogram`; in cells of the columns that stand apart.
    poured : int64 (n_threads, n_all_cells, n_channels + 1)
        What was taken from `packed` before its counts could outgrow their bits.
    counts : int64 (n_threads, WORDS_A_LINE)
        Rows in either, and how many first cells of `packed` were poured: its own thread empties them, as they
        are in its cache.
    count_bits : int
    histograms : int64 (n_slots, n_cells, n_channels + 1)
    searches : Searches
    """

    codes: Any
    columns: Any
    offsets: Any
    fixed: Any
    drawn: Any
    rows: Any
    is_parted: Any
    lefts: Any
    rights: Any
    goes_left: Any
    n_left: Any
    left_at: Any
    right_at: Any
    packed: Any
    poured: Any
    counts: Any
    count_bits: int
    histograms: Any
    searches: Searches


@kernel
def do_piece(piece, thread, orders, desk):
    """Do one piece of an order."""
    rows = desk.rows if desk.is_parted[0] else desk.drawn
    kind, start = orders[WORK], orders[FIRST] + piece * orders[CHUNK]
    stop = min(start + orders[CHUNK], orders[FIRST] + orders[N_ITEMS])
    if kind == ADD_ROWS:
        if desk.counts[thread, N_ADDED] + stop - start >= 1 << desk.count_bits:
            n_cells = desk.histograms.shape[1]
            unpack(desk.packed[thread], 0, n_cells, desk.count_bits, desk.poured[thread])
            desk.counts[thread, N_POURED] += desk.counts[thread, N_ADDED]
            desk.counts[thread, N_ADDED], desk.counts[thread, N_OLD] = 0, n_cells
        if desk.counts[thread, N_OLD] > 0:
            desk.packed[thread, : desk.counts[thread, N_OLD]] = 0
            desk.counts[thread, N_OLD] = 0
        desk.counts[thread, N_ADDED] += stop - start
        bits, packed = desk.count_bits, desk.packed[thread]
        add_rows(desk.codes, rows, start, stop, desk.fixed, desk.offsets, bits, packed)
    elif kind == SPLIT_ROWS:
        desk.n_left[piece] = split_rows(
            rows, start, stop, desk.columns[orders[COLUMN]], desk.goes_left, desk.lefts, desk.rights
        )
    elif kind == PLACE_ROWS:
        n_left = desk.n_left[piece]
        place_rows(
            desk.lefts, desk.rights, start, n_left, stop - start - n_left, desk.left_at[piece],
            desk.right_at[piece], desk.rows,
        )  # fmt: skip
    elif kind == POUR:
        offsets = desk.searches.offsets
        pour_cells(desk, offsets[start], offsets[stop], orders[SLOT], orders[PARENT])
        for which in range(orders[N_ASKED]):
            best, goes_left = desk.searches.best_of_pieces[piece], desk.searches.goes_left_of_pieces[piece]
            search_node(desk, which, start, stop, thread, best[which], goes_left[which])
    else:
        best, goes_left = desk.searches.best[start], desk.searches.goes_left[start]
        search_node(desk, start, 0, desk.codes.shape[1], thread, best, goes_left)


@inner_kernel
def pour_cells(desk, start, stop, slot, parent):
    """Write what all threads have added up of some cells to a histogram, and take it from the parent's.

    slot, parent  int  in  places in `desk.histograms`; the parent's may be `NO_SLOT`
    """
    histogram = desk.histograms[slot]
    n_words = histogram.shape[1]
    histogram[start:stop] = 0
    for thread in range(desk.counts.shape[0]):
        if desk.counts[thread, N_ADDED] > 0:
            unpack(desk.packed[thread], start, stop, desk.count_bits, histogram)
        if desk.counts[thread, N_POURED] > 0:
            for cell in range(start, stop):
                for word in range(n_words):
                    histogram[cell, word] += desk.poured[thread, cell, word]
                    desk.poured[thread, cell, word] = 0
    if parent != NO_SLOT:
        for cell in range(start, stop):
            for word in range(n_words):
                desk.histograms[parent, cell, word] -= histogram[cell, word]


@inner_kernel
def search_node(desk, which, first, stop, thread, best, goes_left):
    """Find the best split of the first or second node that is asked about, among columns `first` to `stop`.

    best, goes_left  float64 (6,), uint8 (n_codes,)  out  see `splitting.find_best_split`
    """
    searches = desk.searches
    asked, told = searches.asked[which], searches.rules[which]
    columns = searches.columns[which, : asked[ASKED_COLUMNS]]
    while columns.size > 0 and columns[0] < first:  # they ascend, unless `first` to `stop` are all
        columns = columns[1:]
    while columns.size > 0 and columns[columns.size - 1] >= stop:
        columns = columns[: columns.size - 1]
    best[KIND] = 0.0
    if columns.size == 0:
        return
    rules = SplitRules(told[0], told[1], told[2], told[3], int(told[4]), told[5], told[6], told[7])
    find_best_split(
        desk.histograms[asked[ASKED_SLOT]], searches.offsets, searches.n_bins, searches.is_categorical,
        columns, asked[ASKED_WANTED], searches.directions, rules, searches.keys[thread],
        searches.items[thread], goes_left, best,
    )  # fmt: skip


@inner_kernel
def is_searched_whole(searches):
    """Tell whether columns are drawn, or do not ascend: nodes are not searched by pieces then."""
    n_columns = searches.asked[0, ASKED_COLUMNS]
    for i in range(1, n_columns):
        if searches.columns[0, i] < searches.columns[0, i - 1]:
            return True
    return searches.asked[0, ASKED_WANTED] < n_columns


@inner_kernel
def take_best_of_pieces(searches, which, n_pieces):
    """Take the best of what was found in each piece, on a tie the first, as `find_best_split` does."""
    best = searches.best[which]
    best[:] = 0.0
    for piece in range(n_pieces):
        other = searches.best_of_pieces[piece, which]
        if other[KIND] > 0 and (
            best[KIND] == 0 or other[GAIN] > best[GAIN] * (1.0 + TIE_SHARE) + other[NOISE]
        ):
            for i in range(best.size):
                best[i] = other[i]
            for code in range(searches.goes_left.shape[1]):
                searches.goes_left[which, code] = searches.goes_left_of_pieces[piece, which, code]


@inner_kernel
def take_pieces(thread, orders, desk):
    """Do a thread's own pieces, then others' that they have not begun; return how many."""
    n_done, n_threads = 0, desk.counts.shape[0]
    for nth in range(n_threads):
        whose = (thread + nth) % n_threads
        word = LEFT + whose * WORDS_A_LINE
        while True:
            left = atomics.load(orders, word)
            if left <= 0:
                break
            if atomics.swap(orders, word, left, left - 1):
                do_piece((whose + 1) * orders[N_PIECES] // n_threads - left, thread, orders, desk)
                atomics.add(orders, DONE, 1)
                n_done += 1
    return n_done


@kernel
def serve(thread, orders, desk, shared, patience):
    """Take pieces of order after order; tell whether the team is dismissed, or patience was lost first.

    shared    int64 (8,)  in and out  where it says that it has begun, see `calls`
    patience  int         in          looks at the order without finding a piece
    """
    say_begun(shared)
    n_looks = 0
    while n_looks < patience:
        n_looks = 0 if take_pieces(thread, orders, desk) > 0 else n_looks + 1
        if atomics.load(orders, LEFT) == DISMISSED:
            return True
    return False


@inner_kernel
def order(orders, desk, kind, first, n_items, chunk):
    """Have items worked on in pieces of `chunk`, and take part; return when all are done."""
    n_pieces, n_threads = (n_items + chunk - 1) // chunk, desk.counts.shape[0]
    orders[WORK], orders[FIRST], orders[N_ITEMS], orders[CHUNK] = kind, first, n_items, chunk
    orders[N_PIECES] = n_pieces
    if n_pieces == 1:  # nobody else need know
        do_piece(0, 0, orders, desk)
        return
    atomics.store(orders, DONE, 0)
    for thread in range(n_threads):
        n_own = (thread + 1) * n_pieces // n_threads - thread * n_pieces // n_threads
        atomics.store(orders, LEFT + thread * WORDS_A_LINE, n_own)
    take_pieces(0, orders, desk)
    n_looks = 1
    while atomics.load(orders, DONE) < n_pieces:
        n_looks += 1
        if n_looks % LOOKS_A_TURN == 0:
            atomics.offer_core()  # who does the last piece may wait for one


@kernel
def dismiss(orders):
    """Let all who serve end."""
    atomics.store(orders, LEFT, DISMISSED)


@kernel
def add(orders, desk, first, n_rows, chunk):
    """Add a stretch of rows to what the threads have added up."""
    order(orders, desk, ADD_ROWS, first, n_rows, chunk)


@kernel
def build(orders, desk, first, n_rows, chunk, slot, parent, n_searches):
    """Add a stretch of rows, make a histogram of all that was added, and search splits.

    slot, parent  int  in  see `pour_cells`
    n_searches    int  in  nodes that `desk.searches.asked` tells of
    """
    order(orders, desk, ADD_ROWS, first, n_rows, chunk)
    is_whole = n_searches > 0 and is_searched_whole(desk.searches)
    orders[SLOT], orders[PARENT], orders[N_ASKED] = slot, parent, 0 if is_whole else n_searches
    n_columns, n_cells = desk.codes.shape[1], desk.histograms.shape[1]
    n_pieces = min(n_columns, (n_cells + CELLS_A_PIECE - 1) // CELLS_A_PIECE)
    order(orders, desk, POUR, 0, n_columns, (n_columns + n_pieces - 1) // n_pieces)
    for thread in range(desk.counts.shape[0]):
        if desk.counts[thread, N_ADDED] > 0:
            desk.counts[thread, N_OLD] = n_cells
        desk.counts[thread, N_ADDED] = desk.counts[thread, N_POURED] = 0
    if is_whole:
        order(orders, desk, SEARCH, 0, n_searches, 1)
        return
    for which in range(n_searches):
        take_best_of_pieces(desk.searches, which, orders[N_PIECES])


@kernel
def partition(orders, desk, first, n_rows, chunk, column):
    """Part a stretch of rows, in their order, by `desk.goes_left`; return how many rows go left."""
    orders[COLUMN] = column
    order(orders, desk, SPLIT_ROWS, first, n_rows, chunk)
    n_pieces, n_left = orders[N_PIECES], 0
    for piece in range(n_pieces):
        desk.left_at[piece] = first + n_left
        n_left += desk.n_left[piece]
    for piece in range(n_pieces):  # rows before it, less those of them that went left, go right of the left
        desk.right_at[piece] = first + n_left + piece * chunk - (desk.left_at[piece] - first)
    order(orders, desk, PLACE_ROWS, first, n_rows, chunk)
    desk.is_parted[0] = 1
    return n_left
