"""OpenCL devices: which there are, what they say of themselves, whether they work.

`discovery` lists them by lasting names, with the runtimes that `vendor_files` finds;
`device` is one of them and `partition` some of its cores. `properties` has what the
driver tells, `calibration` what has to be measured, `probe` whether it computes at all,
and `own_functions` what it computes badly.
"""
