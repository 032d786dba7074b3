import Testing

@testable import CisternDisk

/// The order and the numbers of records that are separate values.
struct SeparateRecordTests {
  @Test func `the record with the lowest age is the oldest, and no number is given twice`() {
    var records = SeparateRecords()
    let first = records.add(SeparateRecord(age: ExtentAge(number: 2), size: 10))
    let second = records.add(SeparateRecord(age: ExtentAge(number: 3), size: 20))
    let oldest = records.oldest
    #expect(oldest?.number == first && oldest?.record.size == 10)
    records.renew(first, age: ExtentAge(number: 4))
    #expect(records.oldest?.number == second)
    let wasPresent = records.remove(second)
    let isPresent = records.remove(second)
    #expect(wasPresent && !isPresent && records.oldest?.number == first)
    let third = records.add(SeparateRecord(age: ExtentAge(number: 5), size: 30))
    #expect(third > second && third > first)
    let read = SeparateRecords(records.records, next: records.next)
    #expect(read == records)
    // The file has never given the number of the third record.
    let damaged = SeparateRecords(records.records, next: third)
    #expect(damaged == nil)
  }
}
