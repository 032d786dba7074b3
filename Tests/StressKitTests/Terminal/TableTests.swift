import Testing

@testable import StressKit

@Suite struct TableTests {
  @Test func `columns are aligned`() {
    var table = TextTable(["name", "count"])
    table.add(["a", "1"])
    table.add(["longer", "1,000"])
    #expect(
      table.description == """
        name    count
        ──────  ─────
        a           1
        longer  1,000
        """)
  }
}
