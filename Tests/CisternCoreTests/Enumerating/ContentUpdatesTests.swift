import CisternTestSupport
import CisternTesting
import Testing

@testable import CisternCore

/// Initial entries and changes of a scope. Odd values have the tag "odd".
struct ContentUpdatesTests {
  private static let keys = ["a1", "a2", "a3", "b1", "b2", "b3"]

  private func subject(
    _ kind: SubjectKind, on executor: SeededExecutor, memoryLimit: Int = 1_000_000
  ) throws -> Subject {
    var settings = CacheConfiguration<Int>()
    settings.tagsOfValue = { $0 % 2 == 0 ? [] : ["odd"] }
    return try Subject(kind, on: executor, memoryLimit: memoryLimit, settings: settings)
  }

  private static func contains(_ scope: Int, _ key: String, _ value: Int) -> Bool {
    switch scope {
    case 0: true
    case 1: key.hasPrefix("a")
    case 2: value % 2 == 1
    default: key != "a1"
    }
  }

  private static func scope(_ number: Int) -> ObservationScope<String> {
    switch number {
    case 0: .all
    case 1: .prefix("a")
    case 2: .tagged("odd")
    default: .keys(["a2", "a3", "b1", "b2", "b3", "a-last"])
    }
  }

  /// Starts a consumer of a random scope and form.
  private static func consume(
    _ cache: Cache<String, Int>, _ scope: Int, into fold: ContentFold, _ generator: inout SeededGenerator,
    on executor: SeededExecutor
  ) -> Task<Void, Never> {
    let buffering: UpdateBuffering = generator.next(below: 2) == 0 ? .newestPerKey : .bounded(2)
    var updates = cache.contentUpdates(Self.scope(scope), buffering: buffering)
    updates.groupSize = 1 + generator.next(below: 3)
    let usesHandler = generator.next(below: 3) == 0
    let slowness = generator.next(below: 4)
    return Task(executorPreference: executor) { [updates] in
      func isDone() -> Bool { fold.isComplete && fold.contents["a-last"] != nil }
      if usesHandler {
        let token = cache.observeContents(Self.scope(scope), buffering: buffering) { fold.take($0) }
        while !isDone() { await Task.yield() }
        token.cancel()
        return
      }
      for await update in updates {
        fold.take(update)
        if isDone() { break }
        for _ in 0..<slowness { await Task.yield() }
      }
    }
  }

  private static func operate(
    on subject: Subject, _ recorder: HistoryRecorder, _ generator: inout SeededGenerator
  ) async throws {
    let cache = subject.cache
    let key = keys[generator.next(below: keys.count)]
    switch generator.next(below: 22) {
    case 0, 1, 2: cache[key] = recorder.newValue()
    case 3, 4: cache[key] = nil
    case 5: cache.removeAll()
    case 6, 7: await subject.loadOrCancel(key, recorder, &generator)
    case 8, 9: cache.trim(toCost: generator.next(below: 3) * 8)
    case 10: subject.tier?.commit(1 + generator.next(below: 4))
    case 11: subject.tier?.evict(key, from: Subject.partition)
    case 12: cache.setValue(recorder.newValue(), forKey: key, expiry: .after(.seconds(1 + generator.next(below: 3))))
    case 13: subject.clock.advance(by: .seconds(1))
    case 14: cache.removeAll(tagged: "odd")
    case 15: cache.removeAll(withPrefix: ["a", "a1", "b"][generator.next(below: 3)])
    case 16:
      try cache.batch { batch in
        batch.setValue(recorder.newValue(), forKey: "a1")
        batch.removeValue(forKey: "b1")
        batch.setValue(recorder.newValue(), forKey: key)
      }
    case 17:
      let draft = cache.draft()
      draft["a2"] = recorder.newValue()
      draft[key] = recorder.newValue()
      await Task.yield()
      _ = try? draft.save(onConflict: .mine)
    case 18:
      if subject.executor.seed % 2 == 1 { return }
      let fails = generator.next(below: 2) == 0
      let value = recorder.newValue()
      _ = try? await cache.editValue(forKey: key) { _ in
        value
      } confirmedBy: {
        await Task.yield()
        if fails { throw Broken() }
        return nil
      }
    case 19: cache.updateValue(forKey: key) { $0 = recorder.newValue() }
    case 20: _ = cache.contains(key)
    default: _ = cache[key]
    }
  }

  @Test(arguments: SubjectKind.caches)
  func `initial entries and changes lead to the cache's contents, without gaps or repetitions`(
    kind: SubjectKind
  ) throws {
    try SeededSchedule.explore(seeds: 400) { executor in
      let subject = try subject(kind, on: executor, memoryLimit: executor.seed % 3 == 0 ? 32 : 1_000)
      let cache = subject.cache
      let recorder = HistoryRecorder()
      var generator = SeededGenerator(seed: executor.seed)
      for key in Self.keys where generator.next(below: 3) > 0 { cache[key] = recorder.newValue() }
      subject.tier?.commit(generator.next(below: 5))
      if kind != .memory, generator.next(below: 2) == 0 { cache.trim(toCost: 0) }
      let scopes = (0..<3).map { _ in generator.next(below: 4) }

      let folds = scopes.map { _ in ContentFold(valuesReturn: executor.seed % 2 == 0) }
      let writers = (0..<2).map { index in
        Task(executorPreference: executor) {
          var generator = SeededGenerator(seed: executor.seed * 2 + UInt64(index))
          for _ in 0..<10 {
            try await Self.operate(on: subject, recorder, &generator)
            await pause(&generator, atMost: 3)
          }
        }
      }
      let consumers = zip(scopes, folds).map {
        Self.consume(cache, $0, into: $1, &generator, on: executor)
      }
      for writer in writers { try await writer.value }
      while subject.inProgressCount > 0 { await Task.yield() }
      subject.tier?.commit()
      // Tasks deliver lost records. A look-up removes an expired value, and may evict others.
      for _ in 0..<2 {
        for _ in 0..<40 { await Task.yield() }
        for key in Self.keys { _ = cache[key] }
      }
      cache.trim(toCost: 0)
      for _ in 0..<40 { await Task.yield() }
      cache["a-last"] = 1_000_001
      for consumer in consumers { await consumer.value }
      for (scope, fold) in zip(scopes, folds) {
        var expected: [String: Int] = [:]
        for key in Self.keys + ["a-last"] {
          if let value = cache[key], Self.contains(scope, key, value) { expected[key] = value }
        }
        try #require(fold.contents == expected, "scope \(scope)")
        try #require(fold.findings == [], "scope \(scope)")
      }
      try #require(subject.findings == [] && cache.watchFindings == [])
    }
  }

  /// Applies all elements that can be had without a wait.
  private static func takeInitial(
    _ iterator: inout ContentUpdates<String, Int>.Iterator, into fold: ContentFold
  ) async {
    repeat {
      guard let update = await iterator.next() else { return }
      fold.take(update)
      if fold.isFailed { return }
    } while !fold.isComplete
  }

  @Test(arguments: SubjectKind.tiered)
  func `values on disk alone are initial entries, and stay there`(kind: SubjectKind) throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try subject(kind, on: executor)
      let cache = subject.cache
      for number in 0..<200 { cache["a\(number)"] = number }
      subject.tier?.commit()
      cache.trim(toCost: 0)
      let fold = ContentFold()
      var iterator = cache.contentUpdates(.prefix("a")).makeAsyncIterator()
      await Self.takeInitial(&iterator, into: fold)
      try #require(fold.initialCount == 200 && fold.contents.count == 200 && fold.findings == [])
      try #require(cache.statistics.memory.entryCount == 0)
    }
  }

  @Test func `a value that replaces one on disk alone leaves the scope of its former tag`() throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try subject(.twoTiers, on: executor)
      let cache = subject.cache
      for key in ["k", "l", "m"] { cache[key] = 1 }
      cache.trim(toCost: 0)
      let fold = ContentFold()
      var iterator = cache.contentUpdates(.tagged("odd")).makeAsyncIterator()
      await Self.takeInitial(&iterator, into: fold)
      try #require(fold.contents == ["k": 1, "l": 1, "m": 1])
      cache["k"] = 2
      cache["l"] = nil
      _ = cache["m"]
      cache["m"] = 4
      for _ in 0..<3 { if let update = await iterator.next() { fold.take(update) } }
      try #require(fold.contents == [:] && fold.restarts == 0 && fold.findings == [])
    }
  }

  @Test func `a full buffer is dropped, and the contents are enumerated again`() throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try subject(.memory, on: executor)
      let cache = subject.cache
      cache["k"] = 0
      let fold = ContentFold()
      var iterator = cache.contentUpdates(.all, buffering: .bounded(3)).makeAsyncIterator()
      await Self.takeInitial(&iterator, into: fold)
      for number in 1...3 { cache["k"] = number }
      for number in 1...3 {
        guard case .changed(let change)? = await iterator.next() else { throw Broken() }
        try #require(change.value == number)
        fold.take(.changed(change))
      }
      for number in 4...100 { cache["k\(number % 10)"] = number }
      guard case .restarted(nil)? = await iterator.next() else { throw Broken() }
      fold.take(.restarted(cause: nil))
      await Self.takeInitial(&iterator, into: fold)
      try #require(fold.contents.count == 11 && fold.contents["k0"] == 100 && fold.findings == [])
    }
  }

  @Test func `removals of many keys restart the contents, and those of others do not`() throws {
    try SeededExecutor.run(seed: 0) { executor in
      let subject = try subject(.memory, on: executor)
      let cache = subject.cache
      for number in 0..<4 { cache["a\(number)"] = number }
      let fold = ContentFold()
      var iterator = cache.contentUpdates(.prefix("a")).makeAsyncIterator()
      await Self.takeInitial(&iterator, into: fold)
      cache.removeAll(withPrefix: "b")
      cache.removeAll(tagged: "odd")
      guard let update = await iterator.next(), case .restarted(let cause) = update,
        case .invalidated(.tag("odd"))? = cause?.event
      else { throw Broken() }
      fold.take(update)
      await Self.takeInitial(&iterator, into: fold)
      try #require(fold.contents == ["a0": 0, "a2": 2])
      cache.removeAll()
      guard let update = await iterator.next(), case .restarted(let cause) = update, case .cleared? = cause?.event
      else { throw Broken() }
      fold.take(update)
      guard case .initialEnded? = await iterator.next() else { throw Broken() }
      try #require(fold.contents == [:] && fold.findings == [])
    }
  }

  @Test func `the sequence ends with its task and with its cache, which it does not keep alive`() throws {
    try SeededExecutor.run(seed: 0) { executor in
      var subject: Subject? = try subject(.memory, on: executor)
      subject?.cache["k"] = 2
      let updates = try #require(subject).cache.contentUpdates()
      let gate = Gate()
      let reader = Task(executorPreference: executor) {
        var elements = 0
        for await _ in updates {
          elements += 1
          if elements == 2 { gate.open() }
        }
        return elements
      }
      let cancelled = Task(executorPreference: executor) {
        for await _ in updates {}
      }
      try await gate.pass()
      cancelled.cancel()
      await cancelled.value
      subject = nil
      try #require(await reader.value == 2)
      var iterator = updates.makeAsyncIterator()
      guard case nil = await iterator.next() else { throw Broken() }
    }
  }

  @Test func `no handler is called after its token was cancelled`() throws {
    try SeededSchedule.explore(seeds: 100) { executor in
      let subject = try subject(.twoTiers, on: executor)
      for number in 0..<5 { subject.cache["a\(number)"] = number }
      let fold = ContentFold()
      let token = subject.cache.observeContents { fold.take($0) }
      for _ in 0..<(executor.seed % 12) { await Task.yield() }
      token.cancel()
      let count = fold.contents.count
      subject.cache["b"] = 1
      for _ in 0..<40 { await Task.yield() }
      try #require(fold.contents.count == count && subject.cache.observers.isObserved == false)
    }
  }
}
