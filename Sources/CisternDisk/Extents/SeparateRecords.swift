/// The records of a data file that are separate values.
struct SeparateRecords: Sendable, Equatable {
  private(set) var records: [SeparateNumber: SeparateRecord] = [:]
  /// The number of the next record.
  private(set) var next = SeparateNumber(number: 0)

  init() {}

  /// Creates the records of a file. Returns nil if a record has a number that the file has not given yet.
  init?(_ records: [SeparateNumber: SeparateRecord], next: SeparateNumber) {
    guard next.number <= SeparateNumber.limit, records.keys.allSatisfy({ $0 < next }) else { return nil }
    self.records = records
    self.next = next
  }

  /// Adds a record, and returns its number.
  mutating func add(_ record: SeparateRecord) -> SeparateNumber {
    precondition(next.number < SeparateNumber.limit, "the file has had too many large records")
    defer { next = SeparateNumber(number: next.number + 1) }
    records[next] = record
    return next
  }

  /// Gives a record another place in the order of eviction.
  mutating func renew(_ number: SeparateNumber, age: ExtentAge) { records[number]?.age = age }

  /// Removes a record. Returns whether it was present.
  mutating func remove(_ number: SeparateNumber) -> Bool { records.removeValue(forKey: number) != nil }

  /// Returns the oldest record besides these, which is evicted next. The result is nil without such a record.
  func oldest(except excluded: Set<SeparateNumber>) -> (number: SeparateNumber, record: SeparateRecord)? {
    records.lazy.filter { !excluded.contains($0.key) }.min { ($0.value.age, $0.key) < ($1.value.age, $1.key) }
      .map { ($0.key, $0.value) }
  }
}
