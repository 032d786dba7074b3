import CisternTestSupport
import Testing

@testable import CisternCore

/// A second opening of a cache.
@Suite struct CacheSettingsTests {
  private func conflict(
    expiry: Expiry = .never, _ change: (inout CacheConfiguration<Int>) -> Void = { _ in }
  ) throws -> String {
    let store = try Store.inMemory(memoryLimit: .mebibytes(1))
    let cache = try store.cache("c", of: Int.self, keyedBy: String.self)
    #expect(try store.cache("c", of: Int.self, keyedBy: String.self) === cache)
    var configuration = CacheConfiguration<Int>()
    change(&configuration)
    let error = #expect(throws: CisternError.self) {
      _ = try store.cache("c", of: Int.self, keyedBy: String.self, expiry: expiry, configuration: configuration)
    }
    #expect(error?.code == .conflictingOpen)
    #expect(error?.location == "cache \"c\"")
    return error?.message ?? ""
  }

  @Test func `another expiry is an error that names both values`() throws {
    #expect(try conflict(expiry: .after(.seconds(60))).contains("expiry is never, not after 60.0 seconds"))
  }

  @Test func `another configuration is an error that names the differences`() throws {
    #expect(try conflict { $0.memoryLimit = .kibibytes(1) }.contains("memoryLimit is none, not 1 KiB"))
    #expect(try conflict { $0.countLimit = 5 }.contains("countLimit is none, not 5"))
    #expect(try conflict { $0.completesAbandonedFlights = true }.contains("completesAbandonedFlights is false"))
    #expect(try conflict { $0.schema = CacheSchema(version: 3) }.contains("schema.version is none, not 3"))
    #expect(try conflict { $0.loadPolicy = .freshOnly }.contains("loadPolicy"))
    #expect(try conflict { $0.refreshRetryInterval = .seconds(2) }.contains("refreshRetryInterval"))
    #expect(try conflict { $0.retry = RetryPolicy(attempts: 2) }.contains("retry.attempts is none, not 2"))
    #expect(try conflict { $0.flightLimit = 2 }.contains("flightLimit is none, not 2"))
    #expect(
      try conflict { $0.circuitBreaker = CircuitBreaker(opensAfter: .consecutiveFailures(3)) }
        .contains("circuitBreaker.threshold is none, not 3 consecutive failures"))
    let both = try conflict {
      $0.countLimit = 5
      $0.flightLimit = 2
    }
    #expect(both.contains("countLimit is none, not 5; flightLimit is none, not 2"))
  }

  @Test func `a closure in only one opening is an error, and two closures count as equal`() throws {
    #expect(try conflict { $0.weigher = { $0 } }.contains("weigher is none, not given"))
    #expect(try conflict { $0.merge = { $1 } }.contains("merge is none, not given"))
    #expect(try conflict { $0.isEqual = (==) }.contains("isEqual is none, not given"))
    #expect(try conflict { $0.expiryOfValue = { _ in nil } }.contains("expiryOfValue is none, not given"))
    #expect(try conflict { $0.fallsBack = { _ in true } }.contains("fallsBack is none, not given"))
    #expect(try conflict { $0.tagsOfValue = { _ in [] } }.contains("tagsOfValue is none, not given"))
    let store = try Store.inMemory(memoryLimit: .mebibytes(1))
    let one = try store.cache(
      "c", of: Int.self, keyedBy: String.self, configuration: CacheConfiguration(weigher: { _ in 1 }))
    let two = try store.cache(
      "c", of: Int.self, keyedBy: String.self, configuration: CacheConfiguration(weigher: { _ in 2 }))
    #expect(one === two)
  }

  @Test func `another expiry of absence is an error`() throws {
    let store = try Store.inMemory(memoryLimit: .mebibytes(1))
    _ = try store.cache("c", of: Int?.self, keyedBy: String.self)
    var configuration = CacheConfiguration<Int?>()
    configuration.absenceExpiry = .after(.seconds(1))
    let error = #expect(throws: CisternError.self) {
      _ = try store.cache("c", of: Int?.self, keyedBy: String.self, configuration: configuration)
    }
    #expect(error?.message.contains("absenceExpiry is none, not after 1.0 seconds") == true)
  }

  @Test func `other types and another codec are errors that name both`() throws {
    let store = try Store.inMemory(memoryLimit: .mebibytes(1))
    _ = try store.cache("c", of: Int.self, keyedBy: String.self)
    let types = #expect(throws: CisternError.self) { _ = try store.cache("c", of: String.self, keyedBy: String.self) }
    #expect(types?.code == .conflictingOpen)
    #expect(types?.message.contains("it is a Cache<String, Int>, not a Cache<String, String>") == true)
    let codecs = #expect(throws: CisternError.self) {
      _ = try store.cache("c", codec: JSONCodec<Int>(), keyedBy: String.self)
    }
    #expect(codecs?.message.contains("codec is int64, not json") == true)
  }
}
