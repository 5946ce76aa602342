from engine.thinned import Thinned


def kept_of(n_bytes, n_steps, first=0):
    thinned = Thinned(n_bytes)
    for n in range(first, n_steps + 1):
        if thinned.wants(n):
            thinned.keep(n, f"state {n}", 10)
    return thinned


def test_every_state_is_kept_while_there_is_room():
    kept = kept_of(110, 10)
    assert len(kept) == 11
    assert kept.last(7) == (7, "state 7")
    assert not kept.wants(4)


def test_states_stand_further_apart_beyond_it():
    kept = kept_of(50, 40)
    assert [kept.last(n)[0] for n in (0, 9, 15, 16, 39, 40)] == [0, 0, 0, 16, 32, 32]
    assert not kept.wants(36)
    assert len(kept) <= 5


def test_the_first_and_one_other_stay_however_large_they_are():
    kept = kept_of(1, 16)
    assert len(kept) == 2
    assert kept.last(3) == (0, "state 0")
    assert kept_of(1, 16, first=1).last(3) is None
    assert len(kept_of(1, 16, first=1)) == 1
