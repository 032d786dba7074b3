import Cistern

/// What is wrong with a cache that nobody uses. Flights that go on without their callers are given ten seconds to end.
func restingFindings<Key, Value>(of cache: Cache<Key, Value>) async -> [String] {
  let deadline = Ticks.now() + 10_000_000_000
  while true {
    let findings = cache.checkInvariants()
    if findings.isEmpty || Ticks.now() >= deadline { return findings }
    await pause(.milliseconds(1))
  }
}
