import Dispatch
import Foundation
import Synchronization

/// Tells a run's tasks to come to an end: its time is up, its operations are done, or someone pressed Ctrl-C.
final class StopSignal: Sendable {
  private let duration: UInt64
  private let budget: Int
  /// When the run ends, once it has begun.
  private let deadline = Atomic<UInt64>(.max)
  private let spent = Atomic<Int>(0)
  private let stopped = Atomic(false)
  private let interrupted = Atomic(false)

  init(_ bound: StressConfiguration.Bound) {
    switch bound {
    case .duration(let duration):
      self.duration = duration.nanoseconds
      budget = .max
    case .operations(let count):
      duration = .max
      budget = count
    }
  }

  /// The run begins: its time is counted from now on.
  func begin(at now: UInt64) {
    let (deadline, overflow) = now.addingReportingOverflow(duration)
    self.deadline.store(overflow ? .max : deadline, ordering: .relaxed)
  }

  /// Whether it is time to stop.
  var isRaised: Bool {
    stopped.load(ordering: .relaxed) || Ticks.now() >= deadline.load(ordering: .relaxed)
  }

  /// Whether a person ended it.
  var isInterrupted: Bool { interrupted.load(ordering: .relaxed) }

  /// Takes up to `count` operations out of what is left; 0 when there is nothing left to do.
  func take(_ count: Int) -> Int {
    guard !isRaised else { return 0 }
    let before = spent.wrappingAdd(count, ordering: .relaxed).oldValue
    return max(0, min(count, budget - before))
  }

  /// The share of the run that is over, from 0 to 1, at a time.
  func progress(at now: UInt64, since start: UInt64) -> Double {
    if budget != .max { return min(1, Double(spent.load(ordering: .relaxed)) / Double(budget)) }
    return min(1, Double(now - start) / Double(max(1, duration)))
  }

  /// Ends the run.
  func interrupt() {
    interrupted.store(true, ordering: .relaxed)
    stopped.store(true, ordering: .relaxed)
  }
}

/// Ends a run on Ctrl-C or a polite kill, so that it can still report; the second Ctrl-C ends the process.
final class InterruptWatch {
  private let sources: [any DispatchSourceSignal]

  init(_ stop: StopSignal) {
    sources = [SIGINT, SIGTERM].map { number in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler {
        if stop.isInterrupted { exit(130) }
        stop.interrupt()
      }
      source.activate()
      return source
    }
  }

  deinit {
    for source in sources { source.cancel() }
    for number in [SIGINT, SIGTERM] { signal(number, SIG_DFL) }
  }
}
