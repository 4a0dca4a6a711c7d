"""Programs on several devices, run where the whole ends first.

`tile-place` decides where each operation runs; here that is carried out. `segments`
cuts a program into one program for each device and turn, `machine`, `links`, `load` and
`sharing` find out what the decision is made by, `times` measures units, `execution`
runs the segments, `samples` corrects the times by what runs take, `names` knows what a
user forces onto a device, and `function` is what a user calls.
"""
