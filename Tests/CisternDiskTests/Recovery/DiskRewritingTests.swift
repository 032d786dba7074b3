import CisternTestSupport
import Testing

@testable import CisternCore
@testable import CisternDisk

/// Writes that replace or remove a record that was read, and no other.
@Suite(.serialized) struct DiskRewritingTests {
  static let key = bytes("key-0")

  func identity(of cache: any TransactionalPartition) throws -> RecordIdentity {
    try #require(cache.withRecord(forKey: Self.key.rawSpan) { RecordIdentity($0, bytes: $1) })
  }

  private func rewrite(_ value: [UInt8]) -> StagedWrite { DiskPartition.write(Self.key, value) }

  /// A tier with a record of the key. Only flushes commit.
  func open(
    _ scratch: TemporaryDirectory, limit: ByteCount = .mebibytes(16), delivered: DeliveredReports = DeliveredReports(),
    faults: DiskFaults = DiskFaults()
  ) async throws -> (DiskTier, any TransactionalPartition) {
    let tier = try openTier(scratch, limit: limit, delivered: delivered, interval: .unreachable, faults: faults)
    let cache = try tier.cache(delivered: delivered)
    cache.put(Self.key, bytes("read"))
    try await tier.flush()
    return (tier, cache)
  }

  /// The operations of another process on the record, and the value of the key after each.
  static let interferences: [(arguments: [String], left: [UInt8]?)] = [
    (["replace"], [7]), (["purge", "key-"], nil), (["clear"], nil),
  ]

  @Test(arguments: 0..<3, [false, true])
  func `a rewrite or a removal of a record that another process has replaced or removed is dropped`(
    interference: Int, isRemoval: Bool
  ) async throws {
    let (arguments, left) = Self.interferences[interference]
    let scratch = TemporaryDirectory()
    let delivered = DeliveredReports()
    let (tier, cache) = try await open(scratch, delivered: delivered)
    let read = try identity(of: cache)
    let write: StagedWrite = isRemoval ? .removal(key: Self.key) : rewrite(bytes("rewritten"))
    guard case .staged = cache.stage(write, if: .identity(read)) else {
      Issue.record("the store refused a write although it has the record of the condition")
      return
    }
    #expect(cache.get(Self.key) == (isRemoval ? nil : bytes("rewritten")))
    #expect(cache.has(Self.key) == !isRemoval)
    let child = try ChildProcess(
      [arguments[0], scratch.store, "\(16 << 20)", "processCrash"] + arguments.dropFirst())
    _ = child.readLine()
    // Also before the commit: what is staged is not the newest.
    #expect(cache.get(Self.key) == left)
    #expect(cache.has(Self.key) == (left != nil))
    try await tier.flush()
    #expect(cache.get(Self.key) == left)
    #expect(delivered.lostKeys == [])
    #expect(tier.checkInvariants() == [])
    _ = child.kill()
    try await tier.close()
  }

  @Test func `a rewrite is read at once, is committed, and can be rewritten before and after`() async throws {
    let scratch = TemporaryDirectory()
    let (tier, cache) = try await open(scratch)
    for round in 0..<4 {
      for step in 0..<3 {
        let text = bytes("rewritten \(round).\(step)")
        _ = cache.stage(rewrite(text), if: .identity(try identity(of: cache)))
        #expect(cache.get(Self.key) == text)
        #expect(cache.has(Self.key))
        #expect(cache.keys() == ["key-0"])
        // An invalidation can conceal the record on disk and not its rewrite.
        #expect(cache.stagedKeys == [Self.key])
      }
      try await tier.flush()
      #expect(cache.get(Self.key) == bytes("rewritten \(round).2"))
    }
    _ = cache.stage(.removal(key: Self.key), if: .identity(try identity(of: cache)))
    #expect(cache.get(Self.key) == nil && !cache.has(Self.key))
    try await tier.flush()
    #expect(cache.keys() == [])
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }

  @Test(arguments: [false, true])
  func `a rewrite yields to this process's own writes, before it or after it, staged or committed`(
    isCommitted: Bool
  ) async throws {
    let scratch = TemporaryDirectory()
    let (tier, cache) = try await open(scratch)
    let read = try identity(of: cache)
    _ = cache.stage(rewrite(bytes("rewritten")), if: .identity(read))
    cache.put(Self.key, bytes("newer"))
    if isCommitted { try await tier.flush() }
    _ = cache.stage(rewrite(bytes("rewritten")), if: .identity(read))
    _ = cache.stage(.removal(key: Self.key), if: .identity(read))
    #expect(cache.get(Self.key) == bytes("newer"))
    try await tier.flush()
    #expect(cache.get(Self.key) == bytes("newer"))
    // A rewrite of what is only staged.
    cache.put(Self.key, bytes("newest"))
    _ = cache.stage(rewrite(bytes("newest, rewritten")), if: .identity(try identity(of: cache)))
    #expect(cache.get(Self.key) == bytes("newest, rewritten"))
    cache.remove("other")
    try await tier.flush()
    #expect(cache.get(Self.key) == bytes("newest, rewritten"))
    _ = cache.stage(rewrite(bytes("rewritten")), if: .identity(try identity(of: cache)))
    _ = cache.stageRemovalOfAll()
    try await tier.flush()
    #expect(cache.keys() == [])
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }

  @Test func `a record that is evicted while its rewrite is staged is reported, and does not come back`() async throws {
    let scratch = TemporaryDirectory()
    let delivered = DeliveredReports()
    let (tier, cache) = try await open(scratch, limit: .kibibytes(256), delivered: delivered)
    // Not read: it is not spared for its use. Its key comes after the others in the commit.
    _ = cache.stage(
      rewrite(bytes("rewritten")), if: .identity(RecordIdentity(DiskPartition.metadata(), bytes: bytes("read").rawSpan))
    )
    for number in 0..<400 { cache.put("a-\(number)", value(number, size: 900)) }
    try await tier.flush()
    #expect(delivered.lost(.evicted).count { $0 == Self.key } == 1)
    #expect(cache.get(Self.key) == nil && !cache.has(Self.key))
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }

  @Test func `a rewrite that the disk fails to take leaves the record that was read, and nothing is lost`() async throws
  {
    let scratch = TemporaryDirectory()
    let delivered = DeliveredReports()
    let failing = Switch<DiskFaults.Fault>()
    let (tier, cache) = try await open(scratch, delivered: delivered, faults: DiskFaults { failing.peek() })
    _ = cache.stage(rewrite(bytes("rewritten")), if: .identity(try identity(of: cache)))
    failing.set(.inputOutput)
    await #expect(throws: CisternError.self) { try await tier.flush() }
    #expect(cache.get(Self.key) == bytes("read"))
    failing.set(nil)
    try await tier.flush()
    #expect(cache.get(Self.key) == bytes("read"))
    #expect(delivered.lostKeys == [])
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }

  // MARK: Records that have ended

  static let ended = WallTime(nanosecondsSince1970: 1_000)

  /// A record that ends at a time.
  static func record(_ value: String, until end: Int64, usedAt lastUsed: Int64? = nil) -> StagedWrite {
    var metadata = DiskPartition.metadata()
    if let lastUsed {
      metadata.idle = UInt64(end - lastUsed)
      metadata.lastUsed = WallTime(nanosecondsSince1970: lastUsed)
    } else {
      metadata.expires = WallTime(nanosecondsSince1970: end)
    }
    return .record(key: key, metadata, bytes: bytes(value))
  }

  private func read(_ cache: any TransactionalPartition) -> [UInt8]? { cache.get(Self.key) }

  @Test(arguments: [false, true], [999, 1_000, 1_001])
  func `the removal of an ended record removes no other record, staged or committed`(
    isCommitted: Bool, end: Int64
  ) async throws {
    let scratch = TemporaryDirectory()
    let (tier, cache) = try await open(scratch)
    let left = end > 1_000 ? bytes("value") : nil
    for record in [Self.record("value", until: end), Self.record("value", until: end, usedAt: 500)] {
      _ = cache.stage(record)
      if isCommitted { try await tier.flush() }
      switch cache.stage(.removal(key: Self.key), if: .ended(by: Self.ended)) {
      case .staged: #expect(isCommitted || left == nil)
      case .dropped: #expect(!isCommitted && left != nil)
      case .refused: Issue.record("the store refused a removal on a condition")
      }
      #expect(read(cache) == left)
      #expect(cache.has(Self.key) == (left != nil))
      try await tier.flush()
      #expect(read(cache) == left)
    }
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }

  /// The conditions under which a staged removal hides the committed record.
  enum Hiding: CaseIterable, Sendable {
    case identity, ended, damaged, either
  }

  @Test(arguments: Hiding.allCases)
  func `a look-up of a record that a staged removal hides counts a miss and no use`(hiding: Hiding) async throws {
    let scratch = TemporaryDirectory()
    let (tier, cache) = try await open(scratch)
    _ = cache.stage(Self.record("value", until: 900))
    try await tier.flush()
    let read = try identity(of: cache)
    let condition: RecordCondition =
      switch hiding {
      case .identity: .identity(read)
      case .ended: .ended(by: Self.ended)
      case .damaged: .damaged
      case .either: .either(.written(before: 0), .ended(by: Self.ended))
      }
    _ = cache.stage(.removal(key: Self.key), if: condition)
    let before = cache.statistics
    for number in 1...3 {
      #expect(self.read(cache) == nil)
      #expect(cache.statistics.hits == before.hits && cache.statistics.misses == before.misses + number)
    }
    try await tier.close()
  }

  @Test func `a record that is written or used after the time has not ended`() async throws {
    let scratch = TemporaryDirectory()
    let (tier, cache) = try await open(scratch)
    var later = DiskPartition.metadata()
    later.created = WallTime(nanosecondsSince1970: 1_001)
    later.expires = WallTime(nanosecondsSince1970: 1_002)
    for write in [
      .record(key: Self.key, later, bytes: bytes("value")), Self.record("value", until: 1_002, usedAt: 1_001),
    ] {
      _ = cache.stage(write)
      try await tier.flush()
      _ = cache.stage(.removal(key: Self.key), if: .ended(by: Self.ended))
      try await tier.flush()
      #expect(read(cache) == bytes("value"))
    }
    try await tier.close()
  }

  @Test(arguments: [false, true])
  func `the removal of an ended record yields to a staged use, and follows a staged end`(isUsed: Bool) async throws {
    let scratch = TemporaryDirectory()
    let (tier, cache) = try await open(scratch)
    _ = cache.stage(Self.record("value", until: 800, usedAt: 400))
    try await tier.flush()
    // Another cache of this process may write a use. The disk still has the earlier one.
    _ = cache.stage(
      Self.record("value", until: isUsed ? 1_300 : 900, usedAt: isUsed ? 900 : 500),
      if: .identity(try identity(of: cache)))
    _ = cache.stage(.removal(key: Self.key), if: .ended(by: Self.ended))
    #expect(read(cache) == (isUsed ? bytes("value") : nil))
    try await tier.flush()
    #expect(read(cache) == (isUsed ? bytes("value") : nil))
    #expect(cache.keys() == (isUsed ? ["key-0"] : []))
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }

  @Test func `a removal of an ended record that the disk fails to take leaves the record of another process`()
    async throws
  {
    let scratch = TemporaryDirectory()
    let failing = Switch<DiskFaults.Fault>()
    let (tier, cache) = try await open(scratch, faults: DiskFaults { failing.peek() })
    _ = cache.stage(Self.record("value", until: 900))
    try await tier.flush()
    failing.set(.inputOutput)
    _ = cache.stage(.removal(key: Self.key), if: .ended(by: Self.ended))
    await #expect(throws: CisternError.self) { try await tier.flush() }
    _ = cache.stage(.removal(key: Self.key), if: .ended(by: Self.ended))
    #expect(read(cache) == nil)
    let child = try ChildProcess("replace", scratch.store, "\(16 << 20)", "processCrash")
    _ = child.readLine()
    failing.set(nil)
    try await tier.flush()
    #expect(read(cache) == [7])
    _ = child.kill()
    try await tier.close()
  }
}
