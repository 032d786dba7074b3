import Testing

@testable import Cistern

/// Who sees what while an invalidation goes from staged to purged.
@Suite struct InvalidationTableTests {
  private let table = InvalidationTable()
  private let key = bytes("key")

  private func metadata(_ era: UInt64, _ tags: [String] = ["red"]) -> RecordMetadata {
    RecordMetadata(created: WallTime(nanosecondsSince1970: 1), cost: 1, tags: tags, era: era)
  }

  private func stage(_ invalidation: Invalidation) -> UInt64 {
    table.stage(invalidation, limit: 1 << 20) { 1 }.era
  }

  private func visibility(_ era: UInt64, snapshot: UInt) -> InvalidationTable.Visibility {
    table.visibility(of: metadata(era), key: key.rawSpan, snapshot: snapshot)
  }

  private func conceals(_ metadata: RecordMetadata) -> Bool { table.conceals(metadata, key: key.rawSpan) }
  private func isVoid(_ metadata: RecordMetadata) -> Bool { table.isVoid(metadata, key: key.rawSpan) }

  private func concealsCommitted(_ metadata: RecordMetadata) -> Bool {
    table.concealsCommitted(metadata, key: key.rawSpan)
  }

  private func row(_ era: UInt64, purged: UInt64 = 0, changes: UInt64) -> EraRow {
    var row = EraRow()
    row.era = era
    row.purged = purged
    row.changes = changes
    return row
  }

  @Test func `A snapshot from before a purge is not believed, and one from after it is`() throws {
    #expect(table.isClear(for: 0))
    #expect(stage(.tag("red")) == 1)
    #expect(!table.isClear(for: .max - 1))
    #expect(visibility(0, snapshot: 5) == .concealed)
    #expect(visibility(1, snapshot: 5) == .visible)
    let taken = try #require(table.beginCommitting())
    #expect(taken.invalidations == [.tag("red"): 1])
    #expect(taken.era == 1)
    #expect(visibility(0, snapshot: 5) == .concealed)
    table.publish(taken.invalidations, row: row(1, changes: 1), transaction: 6)
    #expect(table.purgeable == [.tag("red"): 1])
    table.purged([.tag("red"): 1], row: row(1, purged: 1, changes: 2), transaction: 9)
    #expect(table.pending.isEmpty)
    #expect(!table.isClear(for: 8))
    #expect(table.isClear(for: 9))
    #expect(visibility(0, snapshot: 8) == .outdated)
    // What comes late is compared with what was purged, too.
    #expect(conceals(metadata(0)))
    #expect(!conceals(metadata(1)))
    #expect(!conceals(metadata(0, ["blue"])))
  }

  @Test func `A newer one of the same goes on after the older was ended, and a failed commit is staged again`() throws {
    _ = stage(.prefix(bytes("k")))
    let taken = try #require(table.beginCommitting())
    #expect(stage(.prefix(bytes("k"))) == 2)
    table.publish(taken.invalidations, row: row(1, changes: 1), transaction: 3)
    table.purged([.prefix(bytes("k")): 1], row: row(1, purged: 1, changes: 2), transaction: 4)
    #expect(table.pending == [.prefix(bytes("k")): 2])
    #expect(visibility(1, snapshot: 9) == .concealed)
    _ = try #require(table.beginCommitting())
    #expect(table.restore() == 1)
    #expect(stage(.prefix(bytes("k"))) == 3)
    #expect(try #require(table.beginCommitting()).invalidations == [.prefix(bytes("k")): 3])
  }

  @Test func `What another process began is learnt, and what it began and ended unseen makes void what is on its way`()
  {
    table.learn(row(4, purged: 3, changes: 7), [.tag("red"): 4], transaction: 10)
    #expect(table.era == 4)
    #expect(visibility(3, snapshot: 10) == .concealed)
    // The first look: nothing can be on its way.
    #expect(!conceals(metadata(0, [])))
    // An older snapshot says nothing new.
    table.learn(row(2, changes: 3), [:], transaction: 8)
    #expect(table.pending == [.tag("red"): 4])
    table.learn(row(4, purged: 4, changes: 8), [:], transaction: 12)
    #expect(visibility(3, snapshot: 11) == .outdated)
    #expect(table.isClear(for: 12))
    #expect(isVoid(metadata(3)))
    #expect(!isVoid(metadata(3, [])))
    table.learn(row(9, purged: 8, changes: 20), [:], transaction: 20)
    #expect(table.era == 10)
    #expect(conceals(metadata(9, [])))
    #expect(isVoid(metadata(9, [])))
    #expect(!conceals(metadata(10, [])))
    // What is in the file is not concerned.
    #expect(!concealsCommitted(metadata(9, [])))
    #expect(visibility(9, snapshot: 20) == .visible)
  }

  @Test func `Beyond the bound one is refused, but counted, and one that is there already is not`() {
    #expect(table.stage(.tag("a"), limit: 100) { 1 }.change == .added)
    let (era, number, change) = table.stage(.tag("b"), limit: 100) { 2 }
    #expect(era == 2 && number == 0 && change == .refused)
    #expect(table.stage(.tag("a"), limit: 100) { 3 }.change == .replaced)
    #expect(table.era == 3)
  }
}
