import CisternCore
import CisternTesting
import Locking

/// A clock that runs a function after one of its reads.
package final class InterruptedClock: CacheClock {
  private typealias Interruption = (readsLeft: Int, run: @Sendable () -> Void)

  package let manual = ManualClock()
  private let interruption = Guarded<Interruption?>(nil)

  package init() {}

  package func interrupt(afterReads count: Int, _ run: @escaping @Sendable () -> Void) {
    interruption.withLock { $0 = (count, run) }
  }

  /// Forgets the function if it has not run. Returns whether it has.
  package func endInterruption() -> Bool {
    interruption.withLock { interruption in
      defer { interruption = nil }
      return interruption == nil
    }
  }

  package func now() -> MonotonicTime {
    let time = manual.now()
    noteRead()
    return time
  }

  package func wallTime() -> WallTime {
    let time = manual.wallTime()
    noteRead()
    return time
  }

  private func noteRead() {
    let due = interruption.withLock { interruption -> Interruption? in
      guard let (count, run) = interruption else { return nil }
      interruption = count > 0 ? (count - 1, run) : nil
      return count == 0 ? (count, run) : nil
    }
    due?.run()
  }
}
