import CisternCore
import CisternTesting
import CisternTestSupport
import Testing

struct ValueUpdatesTests {
  /// Sets `k` to 0, in memory or only in the second tier, and starts a task that counts it up to 5.
  private func writer(_ subject: Subject, after: @escaping @Sendable (_ number: Int) -> Void) -> Task<Void, Never> {
    let cache = subject.cache
    cache["k"] = 0
    if subject.kind != .memory, subject.executor.seed % 2 == 0 { cache.trim(toCost: 0) }
    return Task(executorPreference: subject.executor) {
      for number in 1...5 {
        await Task.yield()
        cache["k"] = number
        after(number)
      }
    }
  }

  @Test(arguments: SubjectKind.caches)
  func `the current value and later ones arrive in order, none twice, and always with the last`(
    kind: SubjectKind
  ) throws {
    try SeededSchedule.explore(seeds: 300) { executor in
      let subject = try Subject(kind, on: executor)
      let cache = subject.cache
      let writer = writer(subject) { number in
        if kind != .memory, number % 2 == 0 { cache.trim(toCost: 0) }
      }
      let readers = (0..<3).map { _ in
        Task(executorPreference: executor) {
          var seen: [Int] = []
          for await value in cache.valueUpdates(forKey: "k") {
            seen.append(value ?? -1)
            if value == 5 { break }
            await Task.yield()
          }
          return seen
        }
      }
      await writer.value
      for reader in readers {
        let seen = await reader.value
        try #require(seen.last == 5 && zip(seen, seen.dropFirst()).allSatisfy { $0 < $1 }, "\(seen)")
      }
      try #require(subject.findings == [] && cache.watchFindings == [])
    }
  }

  @Test(arguments: SubjectKind.caches)
  func `observers begin with a value in grace, as loads return it, until it expires`(kind: SubjectKind) throws {
    try SeededSchedule.explore(seeds: 50) { executor in
      let subject = try Subject(kind, on: executor, expiry: .after(.seconds(60), graceStale: .seconds(600)))
      let cache = subject.cache
      cache["k"] = 1
      subject.clock.advance(by: .seconds(61))
      if kind != .memory, executor.seed % 2 == 0 { cache.trim(toCost: 0) }
      let seen = Recorder<Int?>()
      let token = cache.observeValue(forKey: "k") { seen.record($0) }
      let gate = Gate()
      let reader = Task(executorPreference: executor) {
        var iterator = cache.valueUpdates(forKey: "k").makeAsyncIterator()
        let first = await iterator.next()
        gate.open()
        return (first, await iterator.next())
      }
      try await gate.pass()
      while seen.elements.isEmpty { await Task.yield() }
      try #require(try await subject.value("k", policy: .cachedOnly) { _ in 0 } == 1)
      subject.clock.advance(by: .seconds(600))
      // The value has expired. The next use notices it.
      try #require(cache["k"] == nil)
      let (first, second) = await reader.value
      try #require(first == .some(1) && second == .some(nil))
      while seen.elements.count < 2 { await Task.yield() }
      try #require(seen.elements == [1, nil])
      token.cancel()
      try #require(subject.findings == [])
    }
  }

  @Test func `a key without a value begins with nil, and the sequence ends with its task or the cache`() throws {
    try SeededExecutor.run(seed: 0) { executor in
      var subject: FieldsSubject? = try FieldsSubject(.memory, on: executor)
      let sequence = try #require(subject).cache.valueUpdates(forKey: "k")
      let gate = Gate()
      let reader = Task(executorPreference: executor) {
        var iterator = sequence.makeAsyncIterator()
        let first = await iterator.next()
        gate.open()
        return (first, await iterator.next(), await iterator.next())
      }
      try await gate.pass()
      subject?.cache["k"] = ["v": 1]
      for _ in 0..<20 { await Task.yield() }
      subject = nil
      let (first, second, third) = await reader.value
      try #require(first == .some(nil) && second == .some(["v": 1]) && third == nil)
    }
  }

  @Test func `an invalidation of other keys does not end the value, and one of its own key does`() throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try Subject(.memory, on: executor)
      let cache = subject.cache
      cache.setValue(1, forKey: "k", tags: ["mine"])
      var iterator = cache.valueUpdates(forKey: "k").makeAsyncIterator()
      try #require(await iterator.next() == .some(1))
      cache.removeAll(withPrefix: "other")
      cache.removeAll(tagged: "theirs")
      cache.setValue(2, forKey: "k", tags: ["mine"])
      try #require(await iterator.next() == .some(2))
      cache.removeAll(tagged: "mine")
      try #require(await iterator.next() == .some(nil))
      cache.removeAll(tagged: "mine")
      cache["k"] = 3
      try #require(await iterator.next() == .some(3))
    }
  }

  @Test(arguments: SubjectKind.caches)
  func `a closure receives the current value and later ones in order, without gaps or repetitions, including the last`(
    kind: SubjectKind
  ) throws {
    try SeededSchedule.explore(seeds: 300) { executor in
      let subject = try Subject(kind, on: executor)
      let cache = subject.cache
      let writer = writer(subject) { number in
        if number == 3 { cache.removeAll(withPrefix: "other") }
        if number == 5 { cache["k"] = nil }
      }
      let seen = (0..<3).map { _ in Recorder<Int>() }
      var observations: Observations? = Observations()
      for recorder in seen {
        await Task.yield()
        if let observations {
          cache.observeValue(forKey: "k") { recorder.record($0 ?? -1) }.store(in: observations)
        }
      }
      await writer.value
      while seen.contains(where: { $0.elements.last != -1 }) { await Task.yield() }
      for recorder in seen {
        let values = recorder.elements.dropLast()
        try #require(
          values.allSatisfy { $0 >= 0 } && zip(values, values.dropFirst()).allSatisfy { $0 + 1 == $1 }, "\(values)")
      }
      observations = nil
      cache["k"] = 9
      for _ in 0..<20 { await Task.yield() }
      try #require(seen.allSatisfy { $0.elements.last == -1 })
      try #require(subject.findings == [] && cache.watchFindings == [])
    }
  }

  @Test func `a closure receives an initial nil, and one nil for an invalidation of its value`() throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try Subject(.memory, on: executor)
      let cache = subject.cache
      let seen = Recorder<Int>()
      let token = cache.observeValue(forKey: "k") { seen.record($0 ?? -1) }
      func settle() async { for _ in 0..<50 { await Task.yield() } }
      await settle()
      cache.setValue(1, forKey: "k", tags: ["mine"])
      await settle()
      cache.removeAll(tagged: "theirs")
      cache.removeAll(tagged: "mine")
      cache.removeAll(tagged: "mine")
      await settle()
      cache["k"] = 2
      await settle()
      try #require(seen.elements == [-1, 1, -1, 2])
      token.cancel()
    }
  }

  @Test func `a closure receives a value set during its registration once, even if other keys change`() throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try Subject(.twoTiers, on: executor)
      let cache = subject.cache
      let tier = try #require(subject.tier)
      cache["k"] = 1
      cache.trim(toCost: 0)
      tier.setAfterLoad { _ in
        tier.setAfterLoad(nil)
        cache["k"] = 2
        cache["other"] = 1
      }
      let seen = Recorder<Int>()
      let token = cache.observeValue(forKey: "k") { seen.record($0 ?? -1) }
      for _ in 0..<50 { await Task.yield() }
      try #require(seen.elements == [2])
      cache["k"] = 3
      for _ in 0..<50 { await Task.yield() }
      try #require(seen.elements == [2, 3])
      token.cancel()
    }
  }

  @Test func `a record that the tier loses during the read of its value is removed for observers`() throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try Subject(.twoTiers, on: executor)
      let cache = subject.cache
      let tier = try #require(subject.tier)
      cache["k"] = 1
      cache.trim(toCost: 0)
      let reads = Recorder<Void>()
      tier.setAfterLoad { _ in
        // The first read is for the lifetime of the record.
        reads.record(())
        if reads.count == 1 { return }
        tier.setAfterLoad(nil)
        tier.evict("k", from: Subject.partition)
        tier.deliverLosses()
      }
      let reader = Task(executorPreference: executor) {
        var iterator = cache.valueUpdates(forKey: "k").makeAsyncIterator()
        return [await iterator.next(), await iterator.next()]
      }
      for _ in 0..<50 { await Task.yield() }
      cache["k"] = 2
      try #require(await reader.value == [1, .some(nil)])
    }
  }
}
