import Cistern

/// The time that work in progress has to end after the last call of a client. On a busy machine, a task can wait
/// minutes for its turn.
let restingPatience = Duration.seconds(300)

/// Returns the broken invariants of an idle cache. Abandoned flights have ``restingPatience`` to end.
func restingFindings<Key, Value>(of cache: Cache<Key, Value>) async -> [String] {
  let start = ContinuousClock.now
  while true {
    let findings = cache.checkInvariants()
    if findings.isEmpty || ContinuousClock.now - start >= restingPatience { return findings }
    await pause(.milliseconds(1))
  }
}
