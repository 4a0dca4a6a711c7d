"""Programs on several devices, run where the whole ends first.

`tile-place` decides where each operation runs; here that is carried out. `segments`
cuts a program into one program for each device and turn, `machine`, `links`, `load` and
`sharing` find out what the decision is made by, `times` measures units, `execution`
runs the segments, and `function` is what a user calls.
"""
