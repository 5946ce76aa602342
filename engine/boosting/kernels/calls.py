"""How a thread calls others to the same work, without the interpreter lock and without the system.

Waking a thread that sleeps takes some 85 microseconds, as long as a piece of work. So who waits for a call
looks at a word of its own for a while, and who calls stays out of the interpreter until the called are at
work: they have to pass through it, and one that finds its lock taken goes to sleep over it.
"""

from engine.jit import kernel
from engine.kernels import atomics

WORDS_A_LINE = 8  # words that several threads write have a cache line each
WAITS, IS_CALLED, WORKS, IS_DISMISSED = range(4)  # what a thread's word says
NEXT, HAS_BEGUN = range(2)  # in `shared`: the next piece that nobody took yet; whether one began without
LOOKS_A_TURN = 2000  # some 10 microseconds, before a core is offered to others


@kernel
def call(calls, shared, looks):
    """Call all who wait; wait until one takes a piece or says that it began; tell whether one did in time.

    calls   int64 (n_threads * WORDS_A_LINE,)  in and out  a word for each thread, a line each
    shared  int64 (WORDS_A_LINE,)              in and out  see `take` and `say_begun`
    looks   int                                in          at these, at most
    """
    atomics.store(shared, NEXT, 0)
    atomics.store(shared, HAS_BEGUN, 0)
    for thread in range(1, calls.size // WORDS_A_LINE):
        atomics.swap(calls, thread * WORDS_A_LINE, WAITS, IS_CALLED)
    while looks > 0 and atomics.load(shared, NEXT) == 0 and atomics.load(shared, HAS_BEGUN) == 0:
        looks -= 1
    return looks > 0


@kernel
def take(shared):
    """Take the next piece of a work; return its number, which is too large where none is left."""
    return atomics.add(shared, NEXT, 1)


@kernel
def say_begun(shared):
    """Tell that a called thread has begun a work whose pieces are not taken from here.

    It takes none: who called may work at some alone meanwhile.
    """
    atomics.store(shared, HAS_BEGUN, 1)


@kernel
def wait_for_call(calls, thread, patience):
    """Wait until the thread is called or dismissed, so many looks at most; return what its word says then."""
    word = thread * WORDS_A_LINE
    for _ in range(patience):
        told = atomics.load(calls, word)
        if told == IS_DISMISSED or (told == IS_CALLED and atomics.swap(calls, word, IS_CALLED, WORKS)):
            break
    return atomics.load(calls, word)


@kernel
def end_work(calls, thread):
    """Tell that a called thread has done its part; who was dismissed meanwhile stays so."""
    atomics.swap(calls, thread * WORDS_A_LINE, WORKS, WAITS)


@kernel
def wait_for_all(calls):
    """Wait until all who have begun their part have done it; who has not is not called any more."""
    for thread in range(1, calls.size // WORDS_A_LINE):
        word, n_looks = thread * WORDS_A_LINE, 0
        atomics.swap(calls, word, IS_CALLED, WAITS)
        while atomics.load(calls, word) == WORKS:
            n_looks += 1
            if n_looks % LOOKS_A_TURN == 0:
                atomics.offer_core()  # who does the last piece may wait for one


@kernel
def dismiss(calls):
    """Let all who wait end."""
    for thread in range(1, calls.size // WORDS_A_LINE):
        atomics.store(calls, thread * WORDS_A_LINE, IS_DISMISSED)
