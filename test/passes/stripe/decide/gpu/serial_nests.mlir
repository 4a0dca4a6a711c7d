// RUN: tile-opt %s -p 'stripe-autotile{hardware=nvidia-h200 bits=32}' | filecheck %s
// RUN: tile-opt %s --pipeline=opencl-gpu -t opencl | filecheck %s --check-prefix=SOURCE

// Each lane has a column of the state, in all blocks: one says so, the others follow.
// CHECK-LABEL: func.func @steps
// CHECK:       stripe.block "steps" [%group : 4]
// CHECK:         stripe.block [%word : 2, %lane : 64]
// CHECK:           attributes {stripe.schedule = #stripe.schedule<points bind [_, group]
// CHECK:         stripe.block serial [%step : 9]
// CHECK:           stripe.block [%lane : 64]
// CHECK-NOT:       stripe.schedule
// CHECK:       func.return
// SOURCE:      reqd_work_group_size(64, 1, 1)
// SOURCE-NEXT: void steps_1(
// SOURCE:      float state[2];
// SOURCE:      for (int step_ = 0; step_ < 9; ++step_) {
// SOURCE:        state[1] =
func.func @steps(%S : !stripe.view<2x256xf32>) -> !stripe.view<9x256xf32> {
  %R = stripe.alloc : !stripe.view<9x256xf32>
  stripe.block "steps" [%group : 4]
      in %s = %S[0, 64 * %group] : 2x64
      out %r = %R[0, 64 * %group] : 9x64 {
    %state = stripe.alloc : !stripe.view<2x64xf32, private>
    stripe.block [%word : 2, %lane : 64]
        in %from = %s[%word, %lane] : 1x1
        out %to = %state[%word, %lane] : 1x1 {
      %x = stripe.load %from : !stripe.view<1x1xf32>
      stripe.store %x, %to : !stripe.view<1x1xf32, private>
    }
    stripe.block serial [%step : 9]
        inout %now = %state[0, 0] : 2x64
        out %row = %r[%step, 0] : 1x64 {
      stripe.block [%lane : 64]
          inout %a = %now[0, %lane] : 1x1
          inout %b = %now[1, %lane] : 1x1
          out %c = %row[0, %lane] : 1x1 {
        %x = stripe.load %a : !stripe.view<1x1xf32, private>
        %y = stripe.load %b : !stripe.view<1x1xf32, private>
        %z = eltwise.add %x, %y : f32
        stripe.store %y, %a : !stripe.view<1x1xf32, private>
        stripe.store %z, %b : !stripe.view<1x1xf32, private>
        stripe.store %z, %c : !stripe.view<1x1xf32>
      }
    }
  }
  func.return %R : !stripe.view<9x256xf32>
}

// The second block reads what another lane wrote: each work-item has whole points.
// CHECK-LABEL: func.func @turned
// CHECK:       stripe.block "turned" [%group : 400]
// CHECK:         attributes {stripe.schedule = #stripe.schedule<
// CHECK-NEXT:      tile [3] bind [grid],
// CHECK-NEXT:      points bind [group],
// CHECK-NOT:   bind [_, group]
// CHECK:       func.return
func.func @turned(%S : !stripe.view<400x64xf32>) -> !stripe.view<400x64xf32> {
  %R = stripe.alloc : !stripe.view<400x64xf32>
  stripe.block "turned" [%group : 400]
      in %s = %S[%group, 0] : 1x64
      out %r = %R[%group, 0] : 1x64 {
    %state = stripe.alloc : !stripe.view<64xf32, private>
    stripe.block [%lane : 64]
        in %from = %s[0, %lane] : 1x1
        out %to = %state[%lane] : 1 {
      %x = stripe.load %from : !stripe.view<1x1xf32>
      stripe.store %x, %to : !stripe.view<1xf32, private>
    }
    stripe.block [%lane : 64]
        in %from = %state[-%lane + 63] : 1
        out %to = %r[0, %lane] : 1x1 {
      %x = stripe.load %from : !stripe.view<1xf32, private>
      stripe.store %x, %to : !stripe.view<1x1xf32>
    }
  }
  func.return %R : !stripe.view<400x64xf32>
}
