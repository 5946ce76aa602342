"""The canonical order of a tree's nodes: every consumer may rely on it, however a tree came about."""

from engine.jit import kernel


@kernel
def canonical_order(first_child, n_children, order, new_first, stack):
    """Number the nodes reachable from node 0, depth first, children adjacent; returns how many there are.

    first_child, n_children  int32 (n_nodes,)  in       -1 and 0 at leaves
    order                    int32 (n_nodes,)  out      old number of every new node
    new_first                int32 (n_nodes,)  out      first child by the new numbers, -1 at leaves
    stack                    int32 (n_nodes,)  scratch  new numbers of nodes to visit
    """
    order[0], stack[0] = 0, 0
    n_ordered, n_waiting = 1, 1
    while n_waiting > 0:
        n_waiting -= 1
        new = stack[n_waiting]
        old = order[new]
        n = n_children[old]
        new_first[new] = n_ordered if n > 0 else -1
        for child in range(n):
            order[n_ordered + child] = first_child[old] + child
            stack[n_waiting + child] = n_ordered + n - 1 - child
        n_ordered += n
        n_waiting += n
    return n_ordered
