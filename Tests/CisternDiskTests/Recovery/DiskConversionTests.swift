import CisternTestSupport
import Foundation
import Testing

@testable import CisternCore
@testable import CisternDisk

/// The opening of a store whose file has another layout than the options name.
@Suite struct DiskConversionTests {
  private let scratch = TemporaryDirectory()
  private let delivered = DeliveredReports()

  private func open(_ layout: DiskLayout?, limit: ByteCount = .mebibytes(16), isReadOnly: Bool = false) throws
    -> DiskTier
  {
    let options = DiskOptions(
      limit: limit, layout: layout, durability: .processCrash, isReadOnly: isReadOnly, commitInterval: .milliseconds(1))
    return try DiskTier(directory: scratch.store, options: options) { report in
      delivered.reports.withLock { $0.append(report) }
    }
  }

  static let directions: [(from: DiskLayout, to: DiskLayout)] = [(.ordered, .dense), (.dense, .ordered)]

  @Test(arguments: 0..<2, [ByteCount.mebibytes(16), .mebibytes(24)])
  func `each value has its metadata afterwards, and removals and invalidations stay`(
    direction: Int, limit: ByteCount
  ) async throws {
    let (former, next) = Self.directions[direction]
    let metadata = RecordMetadata.complete
    let long = [UInt8](repeating: 7, count: 300)
    var tier = try open(former)
    var one = try tier.cache("one")
    var two = try tier.cache("two")
    let cleared = try tier.cache("cleared")
    for number in 0..<600 {
      let size = [0, 10, 700, 3000, 9000][number % 5]
      one.put("k\(number)", value(number, size: size), tags: number % 3 == 0 ? ["red"] : ["blue"])
      two.put("k\(number)", value(number + 1, size: 20))
      cleared.put("k\(number)", [1])
      await one.waitForRoom()
    }
    one.put(long, value(1, size: 100_000))
    try await tier.flush()
    _ = one.stageInvalidation(.tag("red"))
    one.remove("k1")
    _ = cleared.stageRemovalOfAll()
    cleared.put("after", [3])
    _ = one.stage(.record(key: bytes("full"), metadata, bytes: []))
    try await tier.close()

    // Once into the other layout, once with a layout that is not given, and back.
    for (step, layout) in [next, nil, former].enumerated() {
      tier = try open(layout, limit: limit)
      #expect(tier.engine.layout == [next, next, former][step])
      one = try tier.cache("one")
      two = try tier.cache("two")
      let left = Set((0..<600).filter { $0 % 3 != 0 && $0 != 1 }.map { "k\($0)" })
      #expect(one.keys() == left.union(["full", String(decoding: long, as: UTF8.self)]))
      for number in 0..<600 {
        let size = [0, 10, 700, 3000, 9000][number % 5]
        #expect(one.get("k\(number)") == (left.contains("k\(number)") ? value(number, size: size) : nil))
        #expect(two.get("k\(number)") == value(number + 1, size: 20))
      }
      #expect(one.get(long) == value(1, size: 100_000))
      // Each step ends with an invalidation.
      let version = UInt64(step + 1)
      #expect(
        one.withRecord(forKey: bytes("full").rawSpan) { found, _ in found }
          == metadata.with { $0.invalidationVersion = version })
      #expect(one.invalidationVersion == InvalidationVersion(number: version))
      #expect(try tier.cache("cleared").keys() == ["after"])
      #expect(two.statistics.entryCount == 600)
      #expect(tier.checkInvariants() == [])
      try await tier.purge()
      _ = one.stageInvalidation(.tag("green"))
      one.put("k2", value(2, size: 700), tags: ["blue"])
      try await tier.flush()
      #expect(one.get("k2") == value(2, size: 700))
      #expect(tier.checkInvariants() == [])
      try await tier.close()
    }
    #expect(delivered.reportCodes == [])
  }

  @Test(arguments: 0..<2)
  func `a full store keeps its newest records`(direction: Int) async throws {
    let (former, next) = Self.directions[direction]
    var tier = try open(former, limit: .mebibytes(2))
    var cache = try tier.cache()
    for number in 0..<6000 {
      cache.put("k\(number &* 7919 % 100_003)", value(number, size: 500))
      if number % 50 == 0 { await cache.waitForRoom() }
    }
    try await tier.flush()
    let before = (0..<6000).filter { cache.get("k\($0 &* 7919 % 100_003)") != nil }
    try await tier.close()
    tier = try open(next, limit: .mebibytes(2))
    cache = try tier.cache()
    let after = (0..<6000).filter { cache.get("k\($0 &* 7919 % 100_003)") == value($0, size: 500) }
    #expect(Set(after).isSubset(of: before))
    // Extents hold more than a tree, so that all records of a tree fit.
    if next == .dense { #expect(after == before) } else { #expect(after.count * 500 > 2 << 18) }
    #expect(after.last == 5999 && after.count > (after[after.count - 1] - after[0]) * 4 / 5)
    #expect(cache.statistics.entryCount == after.count)
    for number in 6000..<9000 {
      cache.put("n\(number)", value(number, size: 500))
      if number % 50 == 0 { await cache.waitForRoom() }
    }
    try await tier.flush()
    #expect(cache.get("n8999") == value(8999, size: 500))
    #expect(try scratch.dataFileSize <= 2 << 20)
    #expect(delivered.reportCodes == [])
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }

  @Test func `a converted tree evicts its oldest records first`() async throws {
    var tier = try open(.ordered, limit: .mebibytes(4))
    var cache = try tier.cache()
    // The order of the keys is not that of the writes.
    let names = (0..<2000).map { "k\($0 &* 7919 % 100_003)" }
    for (number, name) in names.enumerated() {
      cache.put(name, value(number, size: 500))
      // A commit writes its records in the order of their keys.
      if number % 50 == 49 { try await tier.flush() }
    }
    try await tier.close()
    tier = try open(.dense, limit: .mebibytes(4))
    cache = try tier.cache()
    #expect(cache.statistics.entryCount == names.count)
    var number = 0
    while cache.statistics.evictions < 600 {
      for _ in 0..<100 {
        cache.put("n\(number)", value(number, size: 500))
        number += 1
      }
      try await tier.flush()
    }
    // A look-up would count as a use.
    let present = names.map { cache.contains(bytes($0).rawSpan) }
    #expect(!present[..<400].contains(true) && !present[900...].contains(false))
    try await tier.close()
  }

  @Test(arguments: 0..<2)
  func `a reader and a compaction keep the layout of the file`(direction: Int) async throws {
    let (former, next) = Self.directions[direction]
    var tier = try open(former)
    try tier.cache().put("k", [1])
    try await tier.close()
    let data = try Data(contentsOf: scratch.dataFile)
    tier = try open(next, isReadOnly: true)
    #expect(try tier.engine.layout == former && tier.cache().get("k") == [1])
    try await tier.close()
    #expect(try Data(contentsOf: scratch.dataFile) == data)
    _ = try DiskTier.compact(directory: scratch.store)
    tier = try open(nil)
    #expect(try tier.engine.layout == former && tier.cache().get("k") == [1])
    try await tier.close()
  }

  @Test func `a store that another process has open in another layout is not converted`() async throws {
    let other: DiskLayout = DiskLayout.tested == .ordered ? .dense : .ordered
    let child = try ChildProcess(["replace", scratch.store, "\(16 << 20)", "powerCut"])
    _ = child.readLine()
    let mark = try Data(contentsOf: scratch.url("store/cistern.mark"))
    let error = #expect(throws: CisternError.self) { _ = try open(other) }
    #expect(error?.code == .storeInUse)
    // The refused opening does not synchronize its commits. It has made none.
    #expect(try Data(contentsOf: scratch.url("store/cistern.mark")) == mark)
    let tier = try open(nil)
    #expect(tier.engine.layout == .tested)
    let cache = try tier.cache()
    #expect(cache.get("key-0") == [7])
    #expect(throws: CisternError.self) { _ = try open(other) }
    cache.put("k", [1])
    try await tier.close()
    _ = child.kill()
    let converted = try open(other)
    #expect(try converted.cache().get("key-0") == [7] && converted.cache().get("k") == [1])
    #expect(delivered.reportCodes == [])
    try await converted.close()
  }

  @Test(arguments: [(size: 300, count: 40_000), (1000, 12_000), (1350, 9000), (4000, 3000), (16_000, 800)])
  func `a tree gets as many records of a full dense file as fit into full pages`(size: Int, count: Int) async throws {
    let limit = ByteCount.mebibytes(8)
    var tier = try open(.dense, limit: limit)
    var cache = try tier.cache()
    for number in 0..<count {
      cache.put("k\(number &* 7919 % 100_003)", value(number, size: size))
      if number % 50 == 0 { await cache.waitForRoom() }
    }
    try await tier.close()
    tier = try open(.ordered, limit: limit)
    cache = try tier.cache()
    let kept = (0..<count).filter { cache.get("k\($0 &* 7919 % 100_003)") == value($0, size: size) }
    #expect(kept.last == count - 1 && cache.statistics.entryCount == kept.count)
    #expect(kept.count * size > limit.bytes * (size < 2000 ? 5 : 7) / 10, "\(kept.count)")
    cache.put("later", [1])
    try await tier.flush()
    #expect(delivered.reportCodes == [])
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }

  @Test(arguments: 0..<2)
  func `a conversion that fails throws, and the file stays as it is`(direction: Int) async throws {
    let (former, next) = Self.directions[direction]
    var tier = try open(former)
    try tier.cache().put("k", [1])
    try await tier.close()
    // The new file would be in this folder.
    let obstacle = scratch.url("store/compact.tmp")
    try Data().write(to: obstacle)
    let error = #expect(throws: CisternError.self) { _ = try open(next) }
    #expect(error.map { "\($0)" }?.contains("could not be converted from the layout \(former) to \(next)") == true)
    try FileManager.default.removeItem(at: obstacle)
    for layout in [former, next] {
      tier = try open(layout)
      #expect(try tier.cache().get("k") == [1])
      try await tier.close()
    }
    #expect(delivered.reportCodes == [])
  }

  @Test(arguments: 0..<2)
  func `damaged records are left out, and reported`(direction: Int) async throws {
    let (former, next) = Self.directions[direction]
    var tier = try open(former)
    for number in 0..<20 { try tier.cache().put("k\(number)", value(number, size: 600)) }
    try await tier.close()
    var data = try Data(contentsOf: scratch.dataFile)
    let sound = Data(value(7, size: 600).prefix(64))
    // If a later commit has copied the page, its former contents are still in the file.
    var count = 0
    while let place = data.range(of: sound) {
      data[place.lowerBound] ^= 1
      count += 1
    }
    #expect(count > 0)
    try data.write(to: scratch.dataFile)
    tier = try open(next)
    #expect(try tier.cache().keys() == Set((0..<20).map { "k\($0)" }).subtracting(["k7"]))
    #expect(delivered.reportCodes == [.damagedRecord])
    #expect(tier.checkInvariants() == [])
    try await tier.close()
  }

  @Test(arguments: 0..<2)
  func `a cursor of the other layout is refused`(direction: Int) async throws {
    let (former, next) = Self.directions[direction]
    var tier = try open(former)
    let long = [UInt8](repeating: 7, count: 100)
    for key in [bytes("a"), bytes("b"), long] { try tier.cache().put(key, [1]) }
    try await tier.flush()
    var positions: [KeyPosition] = []
    for key in [bytes("a"), long] { positions.append(try tier.cache().position(of: key.rawSpan)) }
    try await tier.close()
    tier = try open(next)
    for position in positions {
      let error = #expect(throws: CisternError.self) {
        _ = try tier.cache().records(in: RecordRange(after: position, limit: 10))
      }
      #expect(error?.code == .invalidArgument)
    }
    try await tier.close()
  }
}
