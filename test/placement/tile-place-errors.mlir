// RUN: tile-opt %s -p 'tile-place{machine="%S/Inputs/two-devices.json"}' --split-input-file --verify-diagnostics
// RUN: not tile-opt %S/tile-place-options.mlir -p 'tile-place{machine="%S/Inputs/nothing.json"}' 2>&1 | filecheck %s --check-prefix=FILE
// RUN: not tile-opt %S/tile-place-options.mlir -p 'tile-place{machine="%S/Inputs/two-devices.json" devices="other"}' 2>&1 | filecheck %s --check-prefix=DEVICE
// RUN: not tile-opt %S/tile-place-options.mlir -p 'tile-place{machine="%S/Inputs/two-devices.json" inputs="Q=far"}' 2>&1 | filecheck %s --check-prefix=INPUT
// RUN: not tile-opt %S/tile-place-options.mlir -p 'tile-place{machine="%S/Inputs/two-devices.json" results="B=moon"}' 2>&1 | filecheck %s --check-prefix=PLACE
// RUN: not tile-opt %S/tile-place-options.mlir -p 'tile-place{machine="%S/Inputs/two-devices.json" inputs="far"}' 2>&1 | filecheck %s --check-prefix=PAIR
// RUN: not tile-opt %S/tile-place-options.mlir -p 'tile-place{machine="%S/Inputs/two-devices.json" entry="f"}' 2>&1 | filecheck %s --check-prefix=ENTRY
// RUN: not tile-opt %S/tile-place-options.mlir -p 'tile-place{machine="%S/Inputs/small-devices.json"}' 2>&1 | filecheck %s --check-prefix=MEMORY

// FILE: error: cannot read '{{.*}}nothing.json': No such file or directory
// DEVICE: error: the machine has no device 'other'
// DEVICE: hint: it has near, far
// INPUT: error: the program has no input 'Q' to be on 'far'
// PLACE: error: output 'B' is to be on 'moon', which the machine does not have
// PAIR: error: inputs: expected a name and a place, as in A=intel.0, got 'far'
// ENTRY: error: the module has no function @f to be placed
// MEMORY: error: no placement fits the memory of the devices: 'near' has 1 kB, and everything there takes 67.1 MB while B is computed; 'far' has 2 kB, and everything there takes 134 MB while B is computed

func.func @main(%A : tensor<4x?xf32>) -> tensor<4x?xf32> {
  // expected-error@below {{cannot place 'eltwise.tanh': the shape of its result is not known}}
  %B = eltwise.tanh %A : tensor<4x?xf32>
  func.return %B : tensor<4x?xf32>
}

// -----

func.func @main(%A : tensor<4x4xf32>) -> tensor<4xf32> {
  // expected-error@below {{cannot place a contraction before its indices have ranges}}
  %B = tile.contract add over [i, j] %A[i, j] -> [i : 4] : (tensor<4x4xf32>) -> tensor<4xf32>
  func.return %B : tensor<4xf32>
}

// -----

func.func @main(%A : tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@below {{B is forced onto 'nvidia.7', which is not among the devices}}
  %B = eltwise.tanh %A {tile.device = "nvidia.7"} : tensor<4xf32>
  func.return %B : tensor<4xf32>
}
