import Cistern

/// Returns the broken invariants of an idle cache. Abandoned flights have ten seconds to end.
func restingFindings<Key, Value>(of cache: Cache<Key, Value>) async -> [String] {
  let deadline = Ticks.now() + 10_000_000_000
  while true {
    let findings = cache.checkInvariants()
    if findings.isEmpty || Ticks.now() >= deadline { return findings }
    await pause(.milliseconds(1))
  }
}
