import Cistern
import CisternTesting
import CisternTestSupport
import Foundation
import Locking
import Testing

@testable import CisternCore

/// Several stores of one directory in one process.
@Suite struct SharedStoreTests {
  private func open(
    _ path: String, memoryLimit: ByteCount = .mebibytes(1), configuration: Store.Configuration = .ignoringMemoryPressure
  ) throws -> Store {
    try Store(directory: path, memoryLimit: memoryLimit, diskLimit: .mebibytes(16), configuration: configuration)
  }

  private func numbers(_ store: Store) throws -> Cache<String, Int> {
    try store.cache("numbers", of: Int.self, keyedBy: String.self)
  }

  @Test func `two stores of one directory share their caches, for every path to it`() async throws {
    let scratch = TemporaryDirectory()
    let one = try open(scratch.store)
    let link = scratch.path + "/link"
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: scratch.store)
    let two = try open(link)
    let three = try open(scratch.path + "/./store/")
    #expect(try numbers(one) === numbers(two))
    #expect(try numbers(three) === numbers(one))
    try await one.close()
    try await two.close()
    try await three.close()
  }

  @Test func `callers of two stores share one fetch`() async throws {
    let scratch = TemporaryDirectory()
    let (one, two) = (try open(scratch.store), try open(scratch.store))
    let gate = Gate()
    let fetches = Guarded(0)
    let fetch: @Sendable (String) async throws -> Int = { _ in
      let number = fetches.withLock { fetches in
        fetches += 1
        return fetches
      }
      try await gate.pass()
      return number
    }
    let (left, right) = (try numbers(one), try numbers(two))
    async let first = left.value(forKey: "k", fetch: fetch)
    async let second = right.value(forKey: "k", fetch: fetch)
    while left.statistics.joins < 1 { await Task.yield() }
    gate.open()
    #expect(try await [first, second] == [1, 1])
    try await one.close()
    try await two.close()
  }

  @Test func `a store's memory and observers see every kind of write of another store`() async throws {
    let scratch = TemporaryDirectory()
    let (one, two) = (try open(scratch.store), try open(scratch.store))
    let (writing, reading) = (try numbers(one), try numbers(two))
    let changes = Guarded(0)
    let observations = Observations()
    reading.observe(.all) { _ in changes.withLock { $0 += 1 } }.store(in: observations)
    for round in 0..<5 {
      try await writing.commitValue(1, forKey: "a key", tags: ["tag"])
      #expect(reading["a key"] == 1)
      switch round {
      case 0: try await writing.commitValue(2, forKey: "a key")
      case 1: try await writing.commitRemoval(forKey: "a key")
      case 2: try await writing.commitRemovalOfAll(tagged: "tag")
      case 3: try await writing.commitRemovalOfAll(withPrefix: "a ")
      default: writing.removeAll()
      }
      #expect(reading["a key"] == (round == 0 ? 2 : nil))
    }
    while changes.withLock({ $0 }) < 5 { await Task.yield() }
    try await one.close()
    try await two.close()
  }

  @Test func `a setting other than the open store's is an error that names it`() async throws {
    let scratch = TemporaryDirectory()
    let store = try open(scratch.store)
    func message(_ open: () throws -> Store) -> String {
      let error = #expect(throws: CisternError.self) { _ = try open() }
      #expect(error?.code == .conflictingOpen)
      return error?.message ?? ""
    }
    let path = scratch.store
    #expect(message { try self.open(path, memoryLimit: .mebibytes(2)) }.contains("memoryLimit is 1 MiB, not 2 MiB"))
    #expect(
      message { try Store(directory: path, memoryLimit: .mebibytes(1), diskLimit: .mebibytes(17)) }
        .contains("diskLimit is 16 MiB, not 17 MiB"))
    func with(_ change: (inout Store.Configuration) -> Void) throws -> Store {
      var configuration: Store.Configuration = .ignoringMemoryPressure
      change(&configuration)
      return try self.open(path, configuration: configuration)
    }
    #expect(message { try with { $0.isReadOnly = true } }.contains("isReadOnly is false, not true"))
    #expect(message { try with { $0.durability = .processCrash } }.contains("durability is powerCut, not processCrash"))
    #expect(message { try with { $0.commitInterval = .seconds(1) } }.contains("commitInterval"))
    #expect(message { try with { $0.evictionPolicy = .lru } }.contains("evictionPolicy is leastHitDensity, not lru"))
    #expect(message { try with { $0.clock = ManualClock() } }.contains("clock"))
    #expect(message { try with { $0.taskExecutor = globalConcurrentExecutor } }.contains("taskExecutor is none"))
    #expect(message { try with { $0.respondsToMemoryPressure = true } }.contains("respondsToMemoryPressure"))
    // The failed openings left nothing behind.
    try await store.close()
    try await with { $0.durability = .processCrash }.close()
  }

  @Test func `a closed store opens no cache, also if it is in memory only or the cache is in use`() async throws {
    let scratch = TemporaryDirectory()
    for store in [try open(scratch.store), try Store.inMemory(memoryLimit: .mebibytes(1))] {
      let cache = try numbers(store)
      try await store.close()
      for open in [{ _ = try store.cache("another", of: Int.self, keyedBy: String.self) }, { _ = try numbers(store) }] {
        let error = #expect(throws: CisternError.self) { try open() }
        #expect(error?.code == .storeClosed)
      }
      cache["a"] = 1
      #expect(cache["a"] == 1)
    }
  }

  @Test func `the directory is open until its last store is closed`() async throws {
    let scratch = TemporaryDirectory()
    let (one, two) = (try open(scratch.store), try open(scratch.store))
    let cache = try numbers(one)
    try await one.close()
    try await one.close()
    #expect(cache.statistics.disk?.mode == .active)
    try await cache.commitValue(1, forKey: "k")
    let closed = await #expect(throws: CisternError.self) { try await one.flush() }
    #expect(closed?.code == .storeClosed)
    let removal = await #expect(throws: CisternError.self) { try await one.commitRemovalOfAll(tagged: "tag") }
    #expect(removal?.code == .storeClosed)
    #expect(throws: CisternError.self) { _ = try one.cache("another", of: Int.self, keyedBy: String.self) }
    #expect(try numbers(two) === cache)
    try await two.close()
    #expect(cache.statistics.disk?.mode == .closed)
    let three = try open(scratch.store, memoryLimit: .mebibytes(3))
    let fresh = try numbers(three)
    #expect(fresh !== cache)
    #expect(fresh["k"] == 1)
    try await three.close()
  }

  @Test func `a cache that outlives its store is returned by the next store`() async throws {
    let scratch = TemporaryDirectory()
    let cache = try numbers(open(scratch.store))
    cache["k"] = 1
    let store = try open(scratch.store)
    #expect(try numbers(store) === cache)
    // The released store does not keep the directory open.
    try await store.close()
    #expect(cache.statistics.disk?.mode == .closed)
  }

  @Test func `a directory opens again right after the release of its store, and has all staged writes`() async throws {
    let scratch = TemporaryDirectory()
    var configuration: Store.Configuration = .ignoringMemoryPressure
    configuration.commitInterval = .seconds(3600)
    for round in 1...3 {
      // The directory is closed: another memory limit is no conflict.
      let store = try open(scratch.store, memoryLimit: .mebibytes(round), configuration: configuration)
      let cache = try numbers(store)
      if round > 1 { for number in 0..<100 { #expect(cache["\(number)"] == number + round - 1) } }
      for number in 0..<100 { cache["\(number)"] = number + round }
      #expect(store.reports.isEmpty)
    }
  }

  @Test func `a fetch keeps the directory of a released store open until its value is stored`() async throws {
    let scratch = TemporaryDirectory()
    let clock = ManualClock()
    var configuration: Store.Configuration = .ignoringMemoryPressure
    configuration.clock = clock
    let expiry = Expiry.after(.seconds(1), graceStale: .seconds(3600))
    let gate = Gate()
    weak var former: SharedStore?
    do {
      let store = try open(scratch.store, configuration: configuration)
      let cache = try store.cache("numbers", of: Int.self, keyedBy: String.self, expiry: expiry)
      former = store.shared
      cache["k"] = 1
      clock.advance(by: .seconds(2))
      // The refresh goes on after this load.
      let stale = try await cache.value(forKey: "k", policy: .staleAcceptable(upTo: .seconds(60))) { _ in
        await gate.passUncancelled()
        return 2
      }
      #expect(stale == 1)
      await gate.arrivals(atLeast: 1)
    }
    #expect(former != nil)
    let conflict = #expect(throws: CisternError.self) {
      _ = try open(scratch.store, memoryLimit: .mebibytes(2), configuration: configuration)
    }
    #expect(conflict?.code == .conflictingOpen)
    gate.open()
    while former != nil { await Task.yield() }
    let store = try open(scratch.store, memoryLimit: .mebibytes(2), configuration: configuration)
    let cache = try store.cache("numbers", of: Int.self, keyedBy: String.self, expiry: expiry)
    #expect(cache["k"] == 2)
    try await store.close()
  }

  @Test func `a store keeps only the caches that it opened`() async throws {
    let scratch = TemporaryDirectory()
    let one = try open(scratch.store)
    weak var cache: Cache<String, Int>?
    do {
      let two = try open(scratch.store)
      cache = try numbers(two)
      #expect(cache != nil)
    }
    #expect(cache == nil)
    cache = try numbers(one)
    #expect(cache != nil)
    #expect(one.statistics.caches.keys.sorted() == ["numbers"])
    try await one.close()
  }

  @Test func `every store of a directory has the reports, and its handler runs until it is closed`() async throws {
    let scratch = TemporaryDirectory()
    let delivered = Guarded<[Int]>([])
    func configuration(_ number: Int) -> Store.Configuration {
      var configuration: Store.Configuration = .ignoringMemoryPressure
      configuration.reportHandler = { _ in delivered.withLock { $0.append(number) } }
      return configuration
    }
    let one = try open(scratch.store, configuration: configuration(1))
    let two = try open(scratch.store, configuration: configuration(2))
    let cache = try one.cache("doubles", of: [Double].self, keyedBy: String.self)
    cache["k"] = [.infinity]
    #expect(delivered.withLock { $0.sorted() } == [1, 2])
    #expect(one.reports.count == 1)
    #expect(two.reports.count == 1)
    try await one.close()
    cache["k"] = [.nan]
    #expect(delivered.withLock { $0.sorted() } == [1, 2, 2])
    try await two.close()
  }

  @Test func `stores in memory or over another tier share nothing`() throws {
    let one = try Store.inMemory(memoryLimit: .mebibytes(1))
    let two = try Store.inMemory(memoryLimit: .mebibytes(2))
    #expect(try numbers(one) !== numbers(two))
  }
}

/// Several threads that open and close stores of one directory.
@Suite struct SharedStoreThreadsTests {
  private final class Written: Sendable {
    let rounds = Guarded<[String: Int]>([:])
  }

  @Test func `stores opened and closed by several threads share one cache at a time and lose nothing`() async throws {
    let scratch = TemporaryDirectory()
    let directory = scratch.store
    let written = Written()
    await withTaskGroup(of: Void.self) { group in
      for worker in 0..<4 {
        group.addTask {
          for round in 0..<25 {
            do {
              let store = try Store(directory: directory, memoryLimit: .mebibytes(1), diskLimit: .mebibytes(16))
              let cache = try store.cache("numbers", of: Int.self, keyedBy: String.self)
              try await cache.commitValue(round, forKey: "worker \(worker)")
              written.rounds.withLock { $0["worker \(worker)"] = round }
              for other in 0..<4 {
                let least = written.rounds.withLock { $0["worker \(other)"] }
                let found = cache["worker \(other)"]
                if (found ?? -1) < (least ?? -1) { Issue.record("\(String(describing: found)) after \(least ?? -1)") }
              }
              try await store.close()
            } catch {
              Issue.record(error)
            }
          }
        }
      }
    }
    let store = try Store(directory: directory, memoryLimit: .mebibytes(1), diskLimit: .mebibytes(16))
    let cache = try store.cache("numbers", of: Int.self, keyedBy: String.self)
    for worker in 0..<4 { #expect(cache["worker \(worker)"] == 24) }
    try await store.close()
  }
}
