"""Exact algebra of integers: the mathematics of index spaces.

Forms and polynomials of indices (`form`, `polynomial`), lattices of integer points
(`lattice`, `matrix`, `basis`), inequalities and polyhedra (`inequalities`,
`polyhedron`, decided by `isl`), points counted (`counting`). `flatten` puts them
together: it turns the index space of a contraction into a box. Knows nothing of IR.
"""
