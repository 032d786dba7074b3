import Cistern
import CisternTestSupport
import CisternTesting
import Locking
import Testing

@testable import CisternCore

/// Contents of a cache on disk beside writers, on real threads. Each value has a number, which is unique and grows with
/// each key's writes.
@Suite(.serialized) struct ContentThreadsTests {
  private static let keys = (0..<400).map { "\($0 % 2 == 0 ? "even" : "odd")/\($0)" }

  private static func write(
    _ cache: Cache<String, [UInt8]>, store: Store, seed: UInt64, key: String, value: [UInt8]
  ) async throws {
    var generator = SeededGenerator(seed: seed)
    switch Int.random(in: 0..<40, using: &generator) {
    case 0: cache.removeAll(tagged: "small")
    case 1: cache.removeAll(withPrefix: "even/1")
    case 2: cache.removeAll(withPrefix: "even")
    case 3: if seed % 7 == 0 { cache.removeAll() }
    case 4, 5: cache.trim(toCost: 0)
    case 6: try await store.flush()
    case 7, 8, 9: cache[key] = nil
    case 10, 11:
      try cache.batch {
        $0.setValue(value, forKey: key)
        $0.removeValue(forKey: keys[Int.random(in: 0..<keys.count, using: &generator)])
      }
    case 12...20: _ = cache[key]
    default: cache.setValue(value, forKey: key, tags: value[0] < 100 ? ["small"] : [])
    }
  }

  /// A consumer of one scope.
  private final class Consumer: Sendable {
    private let state = Guarded((contents: [String: [UInt8]](), isComplete: false))

    func take(_ update: ContentUpdate<String, [UInt8]>) {
      state.withLock { state in
        update.apply(to: &state.contents)
        switch update {
        case .initialEnded: state.isComplete = true
        case .restarted: state.isComplete = false
        case .initial, .changed, .left, .failed: break
        }
      }
    }

    /// The contents, once the last write of the test is among them.
    var finalContents: [String: [UInt8]]? {
      state.withLock { $0.isComplete && $0.contents["even/last"] != nil ? $0.contents : nil }
    }
  }

  @Test(arguments: 0..<4)
  func `every consumer has the cache's contents in the end`(seed: UInt64) async throws {
    let fixture = try EnumerationFixture(seed % 2 == 0 ? .ordered : .dense, commitInterval: .milliseconds(1))
    let (cache, store) = (fixture.cache, fixture.store)
    for (number, key) in Self.keys.enumerated() { cache[key] = [UInt8(number % 250)] }
    try await fixture.moveToDisk()
    let scopes: [ObservationScope<String>] = [.all, .prefix("even"), .tagged("small"), .keys(["even/0", "even/last"])]
    let consumers = (0..<8).map { _ in Consumer() }
    let observations = Observations()
    for (consumer, scope) in zip(consumers, scopes) {
      cache.observeContents(scope, buffering: .bounded(20)) { consumer.take($0) }.store(in: observations)
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (consumer, scope) in zip(consumers.dropFirst(4), scopes) {
        group.addTask {
          for await update in cache.contentUpdates(scope) {
            consumer.take(update)
            if consumer.finalContents != nil { return }
          }
        }
      }
      try await withThrowingTaskGroup(of: Void.self) { writers in
        for writer in 0..<2 as Range<UInt64> {
          writers.addTask {
            for number in 0..<1_500 as Range<UInt64> {
              let key = Self.keys[Int(number &* 7 &+ writer) % Self.keys.count]
              let value = [UInt8(number % 250), UInt8(writer), UInt8(number / 250)]
              try await Self.write(
                cache, store: store, seed: seed << 40 | writer << 32 | number, key: key, value: value)
            }
          }
        }
        try await writers.waitForAll()
      }
      cache.setValue([1], forKey: "even/last", tags: ["small"])
      try await group.waitForAll()
    }
    for (number, consumer) in consumers.enumerated() {
      while consumer.finalContents == nil { await Task.yield() }
      var expected: [String: [UInt8]] = [:]
      for try await entry in cache.entries() {
        let isInScope =
          switch number % 4 {
          case 0: true
          case 1: entry.key.hasPrefix("even")
          case 2: entry.tags.contains("small")
          default: ["even/0", "even/last"].contains(entry.key)
          }
        if isInScope { expected[entry.key] = entry.value() }
      }
      #expect(consumer.finalContents == expected, "consumer \(number)")
    }
    observations.cancelAll()
  }

  @Test(arguments: DiskLayout.both)
  func `a store that closes during the enumeration ends the contents with an error`(layout: DiskLayout) async throws {
    let fixture = try EnumerationFixture(layout)
    for number in 0..<2_000 { fixture.cache["\(number)"] = [1] }
    try await fixture.moveToDisk()
    var iterator = fixture.cache.contentUpdates().makeAsyncIterator()
    guard case .initial? = await iterator.next() else { throw CancellationError() }
    try await fixture.store.close()
    var last: ContentUpdate<String, [UInt8]>?
    while let update = await iterator.next() { last = update }
    guard case .failed(let error)? = last else { throw CancellationError() }
    #expect(error.code == .storeClosed)
  }

  @Test(arguments: [ObservationScope<String>.all, .prefix("a"), .keys(["a", "b"]), .tagged("t")], DiskLayout.both)
  func `the contents of a closed store end with an error, in every scope`(
    scope: ObservationScope<String>, layout: DiskLayout
  ) async throws {
    let fixture = try EnumerationFixture(layout)
    fixture.cache["a"] = [1]
    try await fixture.store.close()
    var iterator = fixture.cache.contentUpdates(scope).makeAsyncIterator()
    guard case .failed(let error)? = await iterator.next() else { throw CancellationError() }
    #expect(error.code == .storeClosed)
    #expect(await iterator.next() == nil)
  }
}
