"""A binary heap of nodes for best-first growth: the largest weighted gain first, then the lowest number."""

from engine.jit import kernel


@kernel
def comes_before(nodes, a, b):
    """Tell whether node `a` is split before node `b`."""
    weight, gain = nodes.records.weight, nodes.records.gain
    a_decrease, b_decrease = weight[a] * gain[a], weight[b] * gain[b]
    return a_decrease > b_decrease or (a_decrease == b_decrease and a < b)


@kernel
def push_node(nodes, size, node):
    """Add a node to the heap of `size` nodes."""
    heap, at = nodes.records.heap, size
    while at > 0 and comes_before(nodes, node, heap[(at - 1) // 2]):
        heap[at] = heap[(at - 1) // 2]
        at = (at - 1) // 2
    heap[at] = node


@kernel
def pop_node(nodes, size):
    """Take the first node off the heap of `size` nodes and return it."""
    heap = nodes.records.heap
    first, last, at = heap[0], heap[size - 1], 0
    while 2 * at + 1 < size - 1:
        child = 2 * at + 1
        if child + 1 < size - 1 and comes_before(nodes, heap[child + 1], heap[child]):
            child += 1
        if not comes_before(nodes, heap[child], last):
            break
        heap[at] = heap[child]
        at = child
    heap[at] = last
    return first
