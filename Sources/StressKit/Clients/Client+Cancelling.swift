import CisternTesting
import Cistern
import Locking

extension Client {
  /// Loads one key with several tasks, and cancels some of them.
  ///
  /// The cancelled loads must return immediately. The other loads must not be affected.
  mutating func cancelSome(_ key: Int) async {
    let callerCount = 2 + generator.next(below: 3)
    let doomed = (0..<callerCount).map { _ in generator.next(below: 2) == 0 }
    let patience = generator.next(below: 12)
    let callers = doomed.map { isDoomed in
      var loading = Loading(runState: runState, origin: origin, cache: cache, key: key, isThorough: false)
      loading.mayBeCancelled = isDoomed
      return Task { [loading] in
        let start = Ticks.now()
        let outcome = await loading.run()
        return (outcome: outcome, start: start, end: Ticks.now())
      }
    }
    for _ in 0..<patience { await Task.yield() }
    var cancelledAt = [UInt64](repeating: 0, count: callerCount)
    for index in callers.indices where doomed[index] {
      cancelledAt[index] = Ticks.now()
      callers[index].cancel()
    }
    for (index, caller) in callers.enumerated() {
      let call = await caller.value
      tally.record(
        call.outcome, from: call.outcome == .cancelled ? max(call.start, cancelledAt[index]) : call.start, to: call.end)
    }
  }
}
