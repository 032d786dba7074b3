import Cistern
import CisternTesting
import Testing

/// The removal of the last copy of a value is announced.
@Suite struct LastCopyTests {
  @Test func `an eviction from memory after the store was closed is announced`() throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try Subject(.twoTiers, on: executor)
      let tier = try #require(subject.tier)
      subject.cache["a"] = 1
      let changes = Recorder<String>()
      let token = subject.cache.observe { changes.record("\($0.event)") }
      subject.cache.trim(toCost: 0)
      try #require(subject.cache["a"] == 1)
      try await tier.close()
      try #require(subject.cache["a"] == 1)
      subject.cache.trim(toCost: 0)
      try #require(subject.cache["a"] == nil)
      while changes.count < 1 { await Task.yield() }
      for _ in 0..<20 { await Task.yield() }
      try #require(changes.elements == ["removed(\"a\", CisternCore.RemovalCause.evicted)"])
      token.cancel()
    }
  }

  @Test(arguments: [false, true])
  func `a record that is lost while a load reads it is returned and not kept, with and without an observer`(
    isObserved: Bool
  ) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let tier = FaultInjectingTier(departures: .onDemand, taskExecutor: executor)
      let subject = try Subject(.twoTiers, on: executor, tier: tier)
      subject.cache["a"] = 1
      subject.cache.trim(toCost: 0)
      let changes = Recorder<String>()
      subject.cache["b"] = 2
      let token = isObserved ? subject.cache.observe(.key("a")) { changes.record("\($0.event)") } : nil
      // The eviction comes between the read and the promotion by the load.
      tier.setAfterLoad { _ in
        tier.setAfterLoad(nil)
        tier.evict("a", from: Subject.partition)
        tier.deliverDepartures()
      }
      try #require(try await subject.value("a") { _ in 3 } == 1)
      try #require(subject.cache["a"] == nil)
      if isObserved {
        while changes.count < 1 { await Task.yield() }
        try #require(changes.elements == ["removed(\"a\", CisternCore.RemovalCause.evicted)"])
      }
      try #require(subject.findings == [])
      token?.cancel()
    }
  }
}
