// SPDX-License-Identifier: Apache-2.0
// chain - Rust: main -> outer -> middle -> <Sum as Work>::spend -> deep, and now and then a panic.
//
//     chain SECONDS    of wall time

use std::hint::black_box;
use std::time::Instant;

trait Work {
    fn spend(&self, depth: u32) -> u64;
}

struct Sum {
    factor: u64,
}

#[inline(never)]
fn deep(depth: u32, factor: u64) -> u64 {
    if depth == 0 {
        let mut sum = black_box(1u64);
        for i in 0..black_box(20_000u64) {
            sum = sum.wrapping_mul(factor).wrapping_add(i);
        }
        return black_box(sum);
    }
    black_box(deep(black_box(depth - 1), factor)).wrapping_add(1)
}

impl Work for Sum {
    #[inline(never)]
    fn spend(&self, depth: u32) -> u64 {
        black_box(deep(depth, self.factor)).wrapping_add(1)
    }
}

#[inline(never)]
fn middle(work: &dyn Work) -> u64 {
    let mut names: Vec<String> = (0..3).map(|i| format!("name {}", i)).collect();
    names.sort();
    let seen: u64 = names.iter().map(|name| work.spend(20) ^ name.len() as u64).sum();
    black_box(seen)
}

#[inline(never)]
fn outer(work: &dyn Work) -> u64 {
    let caught = std::panic::catch_unwind(|| {
        if black_box(true) {
            std::panic::resume_unwind(Box::new("thrown"));
        }
    });
    black_box(middle(work)) + caught.is_err() as u64
}

fn main() {
    let seconds: f64 = std::env::args().nth(1).unwrap().parse().unwrap();
    let begin = Instant::now();
    let work = Sum { factor: 1_000_003 };
    while begin.elapsed().as_secs_f64() < seconds {
        black_box(outer(black_box(&work)));
    }
}
