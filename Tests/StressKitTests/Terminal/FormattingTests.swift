import Testing

@testable import StressKit

/// Numbers in the output of the program.
@Suite struct FormattingTests {
  @Test func `counts, times and percentages have separators and units`() {
    #expect(Formatting.count(0) == "0")
    #expect(Formatting.count(999) == "999")
    #expect(Formatting.count(2_000_000) == "2,000,000")
    #expect(Formatting.count(-12_345) == "-12,345")
    #expect(Formatting.time(nanoseconds: 950) == "950 ns")
    #expect(Formatting.time(nanoseconds: 1_240_000) == "1.24 ms")
    #expect(Formatting.time(nanoseconds: 61_000_000_000) == "61.0 s")
    #expect(Formatting.time(nanoseconds: 999) == "999 ns")
    #expect(Formatting.time(nanoseconds: 999_499) == "999 µs")
    #expect(Formatting.time(nanoseconds: 999_600) == "1.00 ms")
    #expect(Formatting.time(nanoseconds: 999_600_000) == "1.00 s")
    #expect(Formatting.time(nanoseconds: 9_996_000) == "10.0 ms")
    #expect(Formatting.time(nanoseconds: 99_960) == "100 µs")
    #expect(Formatting.percentage(1, of: 3) == "33.3 %")
    #expect(Formatting.percentage(0, of: 0) == "–")
  }
}
