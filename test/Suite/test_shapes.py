"""A sample of the comparison of shapes; ./dev conformance shapes makes all of it."""

from Suite import shapes


def test_shapes_of_a_sample():
    assert shapes.main(["--every", "20", "--jobs", "2"]) == 0
