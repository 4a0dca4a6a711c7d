import numpy as np
import gingham.plaidml as plaidml

# Generate input data
dimensions = (10, 26)
T = np.zeros(dimensions)
for i in range(dimensions[0]):
    T[i, 0] = 1.
O = (np.random.rand(*dimensions) + 1.) / 52.
O_row_sum = O.sum(axis=1)
for i in range(dimensions[0]):
    O[i, 0] += 1. - O_row_sum[i]

# Process data using PlaidML
ctx = plaidml.Context()
func = plaidml.Function("""function (T[X, Y], O[X, Y]) -> (R) {
        LO = log(O);
        Temp[x: X] = +(LO[x, y] * T[x, y]);
        R = -Temp;
}""")
with plaidml.open_first_device(ctx) as dev:
    dtype = plaidml.DType.FLOAT32
    in_shape = plaidml.Shape(ctx, dtype, *dimensions)
    t = plaidml.Tensor(dev, in_shape)
    with t.mmap_discard(ctx) as view:
        view[:] = T.flatten()
    o = plaidml.Tensor(dev, in_shape)
    with o.mmap_discard(ctx) as view:
        view[:] = O.flatten()
    out_shape = plaidml.Shape(ctx, dtype, *dimensions[:-1])
    r = plaidml.Tensor(dev, out_shape)
    plaidml.run(ctx, func, inputs={"T": t, "O": o}, outputs={"R": r})
    with r.mmap_current() as view:
        R = view[:]
print(R)    # Report results
