import CisternCore
import Testing

/// Initializers that are deprecated, because properties replace most of their parameters.
struct FormerInitializerTests {
  @available(*, deprecated)
  @Test func `the former initializer of a configuration sets its properties`() {
    let configuration = CacheConfiguration<Int>(
      memoryLimit: .kibibytes(1), countLimit: 2, weigher: { $0 }, completesAbandonedFlights: true, merge: { $1 },
      isEqual: (==), schema: CacheSchema(version: 3), loadPolicy: .freshOnly, refreshRetryInterval: .seconds(4),
      expiryOfValue: { _ in .never }, tagsOfValue: { _ in ["t"] }, retry: RetryPolicy(attempts: 5), flightLimit: 6)
    #expect(configuration.memoryLimit == .kibibytes(1))
    #expect(configuration.countLimit == 2)
    #expect(configuration.weigher?(7) == 7)
    #expect(configuration.completesAbandonedFlights)
    #expect(configuration.merge != nil && configuration.isEqual != nil)
    #expect(configuration.schema?.version == 3)
    #expect(configuration.loadPolicy == .freshOnly)
    #expect(configuration.refreshRetryInterval == .seconds(4))
    #expect(configuration.expiryOfValue?(1) == .never)
    #expect(configuration.tagsOfValue?(1) == ["t"])
    #expect(configuration.retry?.attempts == 5)
    #expect(configuration.flightLimit == 6)
  }

  @available(*, deprecated)
  @Test func `the former initializer of a record's metadata sets its properties`() {
    let (created, expires) = (WallTime(nanosecondsSince1970: 1), WallTime(nanosecondsSince1970: 2))
    let metadata = RecordMetadata(
      created: created, expires: expires, cost: 3, schemaVersion: 4, tags: ["t"], grace: 5, idle: 6, lastUsed: created,
      refreshAhead: 7, invalidationVersion: 8, isNegative: true)
    var expected = RecordMetadata(created: created, expires: expires, cost: 3, schemaVersion: 4, tags: ["t"])
    expected.grace = 5
    expected.idle = 6
    expected.lastUsed = created
    expected.refreshAhead = 7
    expected.invalidationVersion = 8
    expected.isNegative = true
    #expect(metadata == expected)
  }
}
