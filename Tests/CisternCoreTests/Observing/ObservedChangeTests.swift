import CisternCore
import CisternTesting
import CisternTestSupport
import Testing

/// The changes that observers receive.
struct ObservedChangeTests {
  private static let keys = ["a", "b", "c"]

  @Test(arguments: SubjectKind.caches)
  func `changes of a key arrive in order, each once, and add up to the cache's content`(kind: SubjectKind) throws {
    try SeededSchedule.explore(seeds: 400) { executor in
      let subject = try Subject(kind, on: executor, memoryLimit: executor.seed % 3 == 0 ? 16 : 1_000)
      let audit = ChangeAudit()
      let token = subject.cache.observe { audit.take($0) }
      let recorder = HistoryRecorder()
      let tasks = (0..<3).map { index in
        Task(executorPreference: executor) {
          var generator = SeededGenerator(seed: executor.seed * 3 + UInt64(index))
          for _ in 0..<8 {
            await Self.operate(on: subject, recorder, &generator)
            await pause(&generator, atMost: 2)
          }
        }
      }
      for task in tasks { await task.value }
      while subject.inProgressCount > 0 { await Task.yield() }
      subject.tier?.commit()
      // Tasks of this executor deliver the changes.
      for _ in 0..<40 { await Task.yield() }
      // A lookup removes an expired value, and may promote a value that evicts others.
      for key in Self.keys { _ = subject.cache[key] }
      for _ in 0..<40 { await Task.yield() }
      try #require(audit.findings == [])
      let values = audit.values
      try #require(Set(values.keys) == Set(Self.keys.filter(subject.cache.contains)))
      for key in Self.keys {
        if let value = subject.cache[key] { try #require(value == values[key]) }
      }
      token.cancel()
    }
  }

  private static func operate(
    on subject: Subject, _ recorder: HistoryRecorder, _ generator: inout SeededGenerator
  ) async {
    let cache = subject.cache
    let key = keys[generator.next(below: keys.count)]
    switch generator.next(below: 14) {
    case 0, 1, 2: cache[key] = recorder.newValue()
    case 3, 4: cache[key] = nil
    case 5: cache.removeAll()
    case 6, 7: await subject.loadOrCancel(key, recorder, &generator)
    case 8: cache.trim(toCost: generator.next(below: 3) * 8)
    case 9: subject.tier?.commit(1 + generator.next(below: 4))
    case 10: subject.tier?.evict(key, from: Subject.partition)
    case 11: cache.setValue(recorder.newValue(), forKey: key, expiry: .after(.seconds(1 + generator.next(below: 3))))
    case 12: subject.clock.advance(by: .seconds(1))
    default: _ = cache[key]
    }
  }

  @Test(arguments: SubjectKind.caches)
  func `each kind of removal is announced with its cause`(kind: SubjectKind) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try Subject(kind, on: executor)
      let cache = subject.cache
      let changes = Recorder<String>()
      let token = cache.observe { change in
        switch change.event {
        case .inserted(let key, let value): changes.record("+\(key)=\(value)")
        case .updated(let key, let value): changes.record("\(key)=\(value)")
        case .removed(let key, let cause): changes.record("-\(key) \(cause)")
        case .cleared: changes.record("cleared")
        case .invalidated(let invalidation): changes.record("\(invalidation)")
        }
      }
      func newest() async -> [String] {
        for _ in 0..<30 { await Task.yield() }
        return changes.removeAll()
      }
      cache["a"] = 1
      cache["a"] = 2
      cache["a"] = nil
      cache["a"] = nil
      try #require(await newest() == ["+a=1", "a=2", "-a explicit"])

      cache.setValue(3, forKey: "a", expiry: .after(.seconds(1)))
      subject.clock.advance(by: .seconds(1))
      _ = cache["a"]
      try #require(await newest() == ["+a=3", "-a expired"])

      cache["a"] = 4
      subject.tier?.commit()
      cache.trim(toCost: 0)
      if kind == .memory {
        try #require(await newest() == ["+a=4", "-a evicted"])
      } else {
        // The second tier still has the value. Its eviction there removes the last copy.
        try #require(await newest() == ["+a=4"])
        subject.tier?.evict("a", from: Subject.partition)
        try #require(await newest() == ["-a evicted"])
      }

      cache["a"] = 5
      cache.setValue(6, forKey: "a", expiry: .after(.zero))
      try #require(await newest() == ["+a=5", "-a refused"])

      cache["a"] = 7
      cache.removeAll()
      try #require(await newest() == ["+a=7", "cleared"])

      _ = try await subject.value("a") { _ in 8 }
      try #require(await newest() == ["+a=8"])
      token.cancel()
    }
  }

  @Test(arguments: [true, false], [true, false])
  func `changes match the cache if a record leaves the disk during its read`(isLoad: Bool, isToldAtOnce: Bool) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let tier = FaultInjectingTier(losses: .onDemand, taskExecutor: executor)
      let subject = try Subject(.twoTiers, on: executor, tier: tier)
      let cache = subject.cache
      let audit = ChangeAudit()
      let token = cache.observe { audit.take($0) }
      cache["a"] = 1
      cache.trim(toCost: 0)
      tier.setAfterLoad { _ in
        tier.setAfterLoad(nil)
        tier.evict("a", from: Subject.partition)
        if isToldAtOnce { tier.deliverLosses() }
      }
      try #require(try await (isLoad ? subject.value("a") { _ in 2 } : cache["a"]) == 1)
      tier.deliverLosses()
      for round in 0..<2 {
        for _ in 0..<30 { await Task.yield() }
        try #require(audit.findings == [], "round \(round)")
        try #require(audit.values["a"] == cache["a"], "round \(round)")
        cache.trim(toCost: 0)
        if round == 0 { cache["a"] = 3 }
      }
      token.cancel()
    }
  }

  @Test func `a load that a write overtook is not announced`() throws {
    try SeededSchedule.explore(seeds: 200) { executor in
      let subject = try Subject(.twoTiers, on: executor)
      let audit = ChangeAudit()
      let values = Recorder<Int?>()
      let token = subject.cache.observe { change in
        audit.take(change)
        values.record(change.value)
      }
      let gate = Gate()
      let load = subject.load("a") { _ in
        await gate.passUncancelled()
        return -1
      }
      await gate.arrivals(atLeast: 1)
      if executor.seed % 2 == 0 { subject.cache["a"] = 1 } else { subject.cache.removeAll() }
      gate.open()
      try #require(try await load.value == -1)
      for _ in 0..<20 { await Task.yield() }
      try #require(!values.elements.contains(-1))
      try #require(audit.findings == [])
      token.cancel()
    }
  }

  @Test func `an observer receives nothing after its token was cancelled or freed`() throws {
    try SeededSchedule.explore(seeds: 200) { executor in
      let subject = try Subject(.memory, on: executor)
      let (cancelled, gone) = (Recorder<Int?>(), Recorder<Int?>())
      let token = subject.cache.observe { cancelled.record($0.value) }
      do {
        let other = subject.cache.observe { gone.record($0.value) }
        subject.cache["a"] = 1
        for _ in 0..<Int(executor.seed % 5) { await Task.yield() }
        other.cancel()
      }
      token.cancel()
      let counts = (cancelled.count, gone.count)
      subject.cache["a"] = 2
      for _ in 0..<20 { await Task.yield() }
      try #require((cancelled.count, gone.count) == counts)
      try #require(!cancelled.elements.contains(2) && !gone.elements.contains(2))
    }
  }

  @Test func `an observer that changes the cache, and one that never consumes, stall no other`() throws {
    try SeededSchedule.explore(seeds: 200) { executor in
      let subject = try Subject(.twoTiers, on: executor)
      let cache = subject.cache
      let audit = ChangeAudit()
      let auditing = cache.observe { audit.take($0) }
      let echoing = cache.observe(.key("a")) { change in
        cache["echo"] = change.value
        _ = cache["a"]
      }
      // No task consumes this sequence.
      let idle = cache.updates(.all, buffering: .bounded(2))
      for number in 1...10 {
        cache["a"] = number
        await Task.yield()
      }
      for _ in 0..<60 { await Task.yield() }
      try #require(audit.findings == [])
      try #require(audit.values == ["a": 10, "echo": 10])
      withExtendedLifetime(idle) {}
      echoing.cancel()
      auditing.cancel()
    }
  }

  @Test func `a sequence of updates returns the newest value of a key, and ends when its task is cancelled`() throws {
    try SeededSchedule.explore(seeds: 200) { executor in
      let subject = try Subject(.memory, on: executor)
      let cache = subject.cache
      let updates = cache.updates(forKey: "a")
      let seen = Recorder<Int>()
      let reader = Task(executorPreference: executor) {
        for await update in updates {
          if let value = update.value { seen.record(value) }
          if update.value == 10 { return }
        }
      }
      for number in 1...10 {
        cache["a"] = number
        cache["b"] = -number
        if executor.seed % 3 > 0 { await Task.yield() }
      }
      await reader.value
      try #require(seen.elements.last == 10)
      try #require(seen.elements == seen.elements.sorted())
      try #require(seen.elements.allSatisfy { $0 > 0 })

      let endless = Task(executorPreference: executor) {
        for await _ in cache.updates(forKey: "a") {}
        return true
      }
      await Task.yield()
      endless.cancel()
      try #require(await endless.value)
    }
  }
}
