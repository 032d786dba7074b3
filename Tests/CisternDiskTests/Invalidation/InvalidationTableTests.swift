import CisternTestSupport
import Testing

@testable import CisternCore
@testable import CisternDisk

/// The visibility of records while an invalidation is staged, committed and purged.
@Suite struct InvalidationTableTests {
  private let table = InvalidationTable()
  private let key = bytes("key")

  private func metadata(_ invalidationVersion: UInt64, _ tags: [String] = ["red"]) -> RecordMetadata {
    RecordMetadata(created: WallTime(nanosecondsSince1970: 1), cost: 1, tags: tags).with {
      $0.invalidationVersion = invalidationVersion
    }
  }

  private func stage(_ invalidation: Invalidation) -> InvalidationVersion {
    table.stage(invalidation, limit: 1 << 20) { 1 }.invalidationVersion
  }

  private func visibility(
    _ invalidationVersion: UInt64, _ tags: [String] = ["red"], snapshot: TransactionNumber
  ) -> InvalidationTable.Visibility {
    table.visibility(of: metadata(invalidationVersion, tags), key: key.rawSpan, snapshot: snapshot)
  }

  private func conceals(_ metadata: RecordMetadata) -> Bool { table.conceals(metadata, key: key.rawSpan) }

  private func concealsTaken(_ metadata: RecordMetadata) -> Bool { table.concealsTaken(metadata, key: key.rawSpan) }

  private func concealsCommitted(_ metadata: RecordMetadata) -> Bool {
    table.concealsCommitted(metadata, key: key.rawSpan)
  }

  private func row(
    _ invalidationVersion: FileInvalidationVersion, purged: FileInvalidationVersion = 0, changes: UInt64
  ) -> InvalidationVersionRow {
    var row = InvalidationVersionRow()
    row.invalidationVersion = invalidationVersion
    row.purged = purged
    row.changes = changes
    return row
  }

  @Test func `a snapshot from before a purge is outdated, and one from after it is trusted`() throws {
    #expect(table.isVisibleWithoutComparison(at: 0))
    #expect(stage(.tag("red")) == 1)
    #expect(!table.isVisibleWithoutComparison(at: .max.previous()))
    #expect(visibility(0, snapshot: 5) == .concealed)
    #expect(visibility(1, snapshot: 5) == .visible)
    let taken = try #require(table.beginCommitting())
    #expect(taken.invalidations == [.tag("red"): 1])
    #expect(taken.invalidationVersion == 1)
    #expect(visibility(0, snapshot: 5) == .concealed)
    table.publish([.tag("red"): 1], row: row(1, changes: 1), transaction: 6)
    #expect(table.purgeable == [.tag("red"): 1])
    table.endPurged([.tag("red"): 1], row: row(1, purged: 1, changes: 2), transaction: 9)
    #expect(table.pending.isEmpty)
    #expect(!table.isVisibleWithoutComparison(at: 8))
    #expect(table.isVisibleWithoutComparison(at: 9))
    #expect(visibility(0, snapshot: 8) == .outdated)
    // A late write is also compared with purged invalidations.
    #expect(conceals(metadata(0)))
    #expect(!conceals(metadata(1)))
    #expect(!conceals(metadata(0, ["blue"])))
  }

  @Test
  func `a newer invalidation stays pending after the purge of an older one, and failed commits are restaged`() throws {
    _ = stage(.prefix(bytes("k")))
    _ = try #require(table.beginCommitting())
    #expect(stage(.prefix(bytes("k"))) == 2)
    table.publish([.prefix(bytes("k")): 1], row: row(1, changes: 1), transaction: 3)
    table.endPurged([.prefix(bytes("k")): 1], row: row(1, purged: 1, changes: 2), transaction: 4)
    #expect(table.pending == [.prefix(bytes("k")): 2])
    #expect(visibility(1, snapshot: 9) == .concealed)
    _ = try #require(table.beginCommitting())
    #expect(table.restore() == 1)
    #expect(stage(.prefix(bytes("k"))) == 3)
    #expect(try #require(table.beginCommitting()).invalidations == [.prefix(bytes("k")): 3])
  }

  @Test func `invalidations of another process are learned, and ones purged unseen void writes in progress`() {
    table.learn(row(4, purged: 3, changes: 7), InvalidationRows(inForce: [.tag("red"): 4]), transaction: 10)
    #expect(table.invalidationVersion == 4)
    #expect(visibility(3, snapshot: 10) == .concealed)
    // At the first learning, no write can be in progress.
    #expect(!conceals(metadata(0, [])))
    // An older snapshot has no new information.
    table.learn(row(2, changes: 3), InvalidationRows(), transaction: 8)
    #expect(table.pending == [.tag("red"): 4])
    table.learn(row(4, purged: 4, changes: 8), InvalidationRows(), transaction: 12)
    #expect(visibility(3, snapshot: 11) == .outdated)
    #expect(table.isVisibleWithoutComparison(at: 12))
    #expect(conceals(metadata(3)))
    #expect(!conceals(metadata(3, [])))
    table.learn(row(9, purged: 8, changes: 20), InvalidationRows(), transaction: 20)
    #expect(table.invalidationVersion == 10)
    #expect(conceals(metadata(9, [])))
    #expect(!conceals(metadata(10, [])))
    // Records in the file are not affected.
    #expect(!concealsCommitted(metadata(9, [])))
    #expect(visibility(9, snapshot: 20) == .visible)
  }

  @Test func `a row that a reader learned of a later commit outlasts the end of a purge`() {
    table.learn(row(0, changes: 0), InvalidationRows(), transaction: 1)
    _ = stage(.tag("red"))
    _ = table.beginCommitting()
    table.publish([.tag("red"): 1], row: row(1, changes: 1), transaction: 6)
    _ = stage(.tag("green"))
    // Between the commit that ends the purge and its publication.
    let later = row(5, purged: 1, changes: 4)
    table.learn(
      later, InvalidationRows(inForce: [.tag("blue"): 5], ended: [.tag("red"): 1]), transaction: 10)
    table.endPurged([.tag("red"): 1], row: row(1, purged: 1, changes: 2), transaction: 9)
    #expect(table.isKnown(later) && table.fileVersion == 5)
    // The record is a known one, which every invalidation that is not committed yet follows.
    #expect(visibility(5, ["green"], snapshot: 10) == .concealed)
    let fetched = metadata(table.invalidationVersion.number, [])
    table.learn(
      row(6, purged: 4, changes: 6), InvalidationRows(inForce: [.tag("blue"): 5, .tag("gray"): 6]), transaction: 12)
    #expect(!conceals(fetched))
  }

  private func set(_ invalidationVersion: UInt64, _ tags: [String] = ["red"]) -> RecordMetadata {
    var metadata = metadata(invalidationVersion, tags)
    metadata.isSet = true
    return metadata
  }

  @Test
  func `another process's invalidation conceals values fetched before it was learned, but no value that was set`() {
    table.learn(row(0, changes: 0), InvalidationRows(), transaction: 1)
    table.learn(
      row(2, changes: 4), InvalidationRows(inForce: [.tag("red"): 2], ended: [.tag("blue"): 1]), transaction: 5)
    for tag in ["red", "blue"] {
      #expect(conceals(metadata(0, [tag])))
      #expect(!conceals(set(0, [tag])))
      #expect(!conceals(metadata(table.invalidationVersion.number, [tag])))
    }
    #expect(!conceals(metadata(0, ["green"])))
    #expect(visibility(1, snapshot: 5) == .concealed)
    #expect(visibility(2, snapshot: 5) == .visible)
  }

  @Test func `a local invalidation overtaken by another process's keeps its order relative to local writes`() throws {
    table.learn(row(0, changes: 0), InvalidationRows(), transaction: 1)
    let before = table.invalidationVersion
    let own = stage(.tag("red"))
    let taken = try #require(table.beginCommitting())
    // The version in the file is greater than the local version.
    table.learn(row(3, changes: 6), InvalidationRows(inForce: [.tag("blue"): 3]), transaction: 7)
    for _ in 0..<2 {
      #expect(conceals(set(before.number)) && conceals(metadata(before.number)))
      #expect(!conceals(set(own.number)) && !conceals(metadata(own.number)))
      #expect(visibility(3, snapshot: 7) == .concealed)
      table.assign([.tag("red"): 4])
      // A reader learns of the commit before the commit is published.
      table.learn(row(4, changes: 7), InvalidationRows(inForce: [.tag("blue"): 3, .tag("red"): 4]), transaction: 8)
      #expect(!conceals(set(own.number)) && !conceals(metadata(own.number)))
      table.publish([.tag("red"): 4], row: row(4, changes: 7), transaction: 8)
    }
    #expect(taken.invalidations == [.tag("red"): own])
    #expect(table.fileVersion == 4)
    #expect(visibility(4, snapshot: 8) == .visible)
  }

  @Test(arguments: [false, true], [false, true])
  func `another process's invalidation with the version of an aborted commit conceals values fetched before it`(
    isEnded: Bool, isLearnedFirst: Bool
  ) throws {
    table.learn(row(0, changes: 0), InvalidationRows(), transaction: 1)
    let own = stage(.tag("red"))
    _ = try #require(table.beginCommitting())
    let red: [Invalidation: FileInvalidationVersion] = [.tag("red"): 1]
    table.assign(red)
    // A reader can learn of the other commit between the abort and the withdrawal.
    if !isLearnedFirst { table.withdrawAssigned() }
    let rows = isEnded ? InvalidationRows(ended: red) : InvalidationRows(inForce: red)
    table.learn(row(1, changes: isEnded ? 2 : 1), rows, transaction: 5)
    if isLearnedFirst { table.withdrawAssigned() }
    #expect(conceals(metadata(own.number)) && !conceals(set(own.number)))
    #expect(!conceals(metadata(table.invalidationVersion.number)))
  }

  @Test func `a new invalidation above the bound is refused but counted, and a repeated one is accepted`() {
    #expect(table.stage(.tag("a"), limit: 100) { 1 }.change == .added(1))
    let (invalidationVersion, change) = table.stage(.tag("b"), limit: 100) { 2 }
    #expect(invalidationVersion == 2 && change == .refused)
    #expect(table.stage(.tag("a"), limit: 100) { 3 }.change == .replaced(3))
    #expect(table.invalidationVersion == 3)
  }

  @Test func `a purge ends its invalidations in small parts, and the remaining ones still conceal records`() throws {
    var targets: [Invalidation: FileInvalidationVersion] = [:]
    for number in 0..<1_000 {
      targets[number % 2 == 0 ? .tag("tag\(number)") : .prefix(bytes("prefix\(number)"))] = FileInvalidationVersion(
        number: UInt64(number + 1))
    }
    for invalidation in targets.keys { _ = stage(invalidation) }
    let taken = try #require(table.beginCommitting())
    let rows = taken.invalidations.mapValues { FileInvalidationVersion(sameNumberAs: $0) }
    let newest = FileInvalidationVersion(sameNumberAs: taken.invalidationVersion)
    table.publish(rows, row: row(newest, changes: 1), transaction: 6)
    var left = Set(rows.keys)
    let parts = PurgeWalk.parts(of: rows)
    #expect(parts.allSatisfy { !$0.isEmpty && $0.count <= PurgeWalk.partSize })
    #expect(parts.reduce(into: [:]) { $0.merge($1) { $1 } } == rows)
    for part in parts {
      #expect(!table.isVisibleWithoutComparison(at: 9))
      table.endPurged(part, row: row(newest, purged: newest, changes: 2), transaction: 9)
      left.subtract(part.keys)
      #expect(Set(table.pending.keys) == left)
    }
    #expect(table.isVisibleWithoutComparison(at: 9) && !table.isVisibleWithoutComparison(at: 8))
  }

  @Test(arguments: [0, 1, 2])
  func `another file gets the ended invalidations again that fit, the newest ones first`(count: Int) throws {
    table.learn(row(0, changes: 0), InvalidationRows(), transaction: 1)
    let tags = ["red", "tan"]
    for tag in tags { _ = stage(.tag(tag)) }
    _ = try #require(table.beginCommitting())
    table.publish([.tag("red"): 1, .tag("tan"): 2], row: row(2, changes: 1), transaction: 2)
    table.endPurged(table.purgeable, row: row(2, changes: 2), transaction: 3)
    #expect(table.forgetFile(repeatingEndedUpTo: count * Invalidation.tag("red").size) == count)
    let repeated: [Invalidation: InvalidationVersion] = [.tag("red"): 1, .tag("tan"): 2]
    #expect(table.pending == repeated.filter { $0.value > InvalidationVersion(number: UInt64(2 - count)) })
    for tag in tags.suffix(count) { #expect(visibility(0, [tag], snapshot: 9) == .concealed) }
    #expect(table.beginCommitting().map { $0.invalidations == table.pending } != false)
  }

  @Test func `a record that only a later commit's invalidation conceals stays in the file until that commit`() throws {
    table.learn(row(4, changes: 1), InvalidationRows(), transaction: 1)
    func concealsInTransaction(_ version: UInt64) -> Bool {
      table.concealsInTransaction(metadata(version), key: key.rawSpan)
    }
    #expect(stage(.tag("red")) == 5)
    #expect(concealsCommitted(metadata(4)) && !concealsInTransaction(4))
    _ = try #require(table.beginCommitting())
    #expect(concealsInTransaction(4))
    // The transaction's own records have the version of its invalidation, or a later one.
    #expect(!concealsInTransaction(5))
    table.assign([.tag("red"): 5])
    table.publish([.tag("red"): 5], row: row(5, changes: 2), transaction: 2)
    #expect(concealsInTransaction(4) && !concealsInTransaction(5))
    table.endPurged(table.purgeable, row: row(5, changes: 3), transaction: 3)
    #expect(concealsInTransaction(4) && !concealsInTransaction(5))
  }

  @Test(arguments: [true, false])
  func `a set value stays beside another process's invalidation after a failed commit in another file`(
    isStagedToo: Bool
  ) throws {
    table.learn(row(0, changes: 0), InvalidationRows(), transaction: 1)
    _ = table.beginCommitting()
    var set = metadata(0)
    set.isSet = true
    // Beside the commit group in progress, another process invalidates the tag. This one invalidates it before the
    // value is set.
    if isStagedToo { set.localVersion = stage(.tag("red")) }
    let foreign: [Invalidation: FileInvalidationVersion] = [.tag("red"): 9]
    table.learn(row(9, changes: 1), InvalidationRows(inForce: foreign, ended: [:]), transaction: 5)
    _ = table.forgetFile(repeatingEndedUpTo: 1 << 20)
    _ = table.beginRepeating()
    _ = table.restore()
    _ = table.beginCommitting()
    #expect(!concealsTaken(set) && !conceals(set))
    set.isSet = false
    #expect(concealsTaken(set))
  }

  @Test func `an invalidation that another process commits first ends with its purge`() {
    #expect(stage(.tag("red")) == 1)
    let first: [Invalidation: FileInvalidationVersion] = [.tag("red"): 1]
    table.learn(row(1, changes: 1), InvalidationRows(inForce: first, ended: [:]), transaction: 5)
    #expect(table.pending == [.tag("red"): 2])
    _ = table.beginCommitting()
    let second: [Invalidation: FileInvalidationVersion] = [.tag("red"): 2]
    table.assign(second)
    table.publish(second, row: row(2, changes: 2), transaction: 6)
    #expect(!conceals(metadata(2)) && conceals(metadata(1)))
    table.endPurged(table.purgeable, row: row(2, changes: 3), transaction: 7)
    #expect(table.pending == [:] && table.isEmpty)
    #expect(conceals(metadata(1)))
  }
}
