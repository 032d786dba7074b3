import Testing

@testable import CisternDisk

/// The order and the numbers of records that are separate values.
struct SeparateRecordTests {
  @Test func `the record with the lowest age is the oldest, and no number is given twice`() {
    var records = SeparateRecords()
    let first = records.add(SeparateRecord(age: ExtentAge(number: 2), size: 10))
    let second = records.add(SeparateRecord(age: ExtentAge(number: 3), size: 20))
    let oldest = records.oldest(except: [])
    #expect(oldest?.number == first && oldest?.record.size == 10)
    records.renew(first, age: ExtentAge(number: 4))
    #expect(records.oldest(except: [])?.number == second)
    let wasPresent = records.remove(second)
    let isPresent = records.remove(second)
    #expect(wasPresent && !isPresent && records.oldest(except: [])?.number == first)
    let third = records.add(SeparateRecord(age: ExtentAge(number: 5), size: 30))
    #expect(third > second && third > first)
    let read = SeparateRecords(records.records, next: records.next)
    #expect(read == records)
    // The file has never given the number of the third record.
    let damaged = SeparateRecords(records.records, next: third)
    #expect(damaged == nil)
  }

  @Test func `the records of the last commit groups are new`() {
    var new = NewSeparates()
    let numbers = (0..<6).map { SeparateNumber(number: $0) }
    for (group, number) in numbers.enumerated() {
      new.note([number])
      #expect(new.all() == Set(numbers[max(group - NewSeparates.groupCount + 1, 0)...group]))
      new.noteGroup()
    }
    for _ in 1..<NewSeparates.groupCount { new.noteGroup() }
    #expect(new.all().isEmpty)
  }

  @Test func `a record of a newer commit group costs more`() {
    var new = NewSeparates()
    let numbers = (0..<4).map { SeparateNumber(number: $0) }
    for number in numbers {
      new.noteGroup()
      new.note([number])
    }
    #expect(new.all(withoutOldest: 3) == [numbers[3]])
    #expect(new.costs(from: 2) == [numbers[0]: 2, numbers[1]: 32, numbers[2]: 512, numbers[3]: 8192])
  }
}
