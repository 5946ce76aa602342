"""A binary heap of a tree's nodes: the one of largest priority first, of equal ones the lowest number.

records  record array with `priority`, float64, of nodes and `heap`, the nodes that wait
"""

from engine.jit import kernel


@kernel
def comes_before(records, a, b):
    """Tell whether node `a` is split before node `b`."""
    first, second = records.priority[a], records.priority[b]
    return first > second or (first == second and a < b)


@kernel
def push_node(records, size, node):
    """Add a node to the heap of `size` nodes."""
    heap, at = records.heap, size
    while at > 0 and comes_before(records, node, heap[(at - 1) // 2]):
        heap[at] = heap[(at - 1) // 2]
        at = (at - 1) // 2
    heap[at] = node


@kernel
def pop_node(records, size):
    """Take the first node off the heap of `size` nodes and return it."""
    heap = records.heap
    first, last, at = heap[0], heap[size - 1], 0
    while 2 * at + 1 < size - 1:
        child = 2 * at + 1
        if child + 1 < size - 1 and comes_before(records, heap[child + 1], heap[child]):
            child += 1
        if not comes_before(records, heap[child], last):
            break
        heap[at] = heap[child]
        at = child
    heap[at] = last
    return first
