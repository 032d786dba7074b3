@testable import CisternDisk

/// A dense file in memory, which applies the decisions of a log and a reclaim policy to an index.
///
/// Each place remembers its record. A reader has a copy of the index, and checks that its records are unchanged.
struct ExtentModel {
  /// A record at a place. Versions distinguish the values of a key.
  struct Record: Equatable {
    var key: Int
    var version: Int
    var size: Int
  }

  typealias Index = [Int: (address: RecordAddress, record: Record)]

  private(set) var log: ExtentLog
  let policy: ReclaimPolicy
  private(set) var index: Index = [:]
  private(set) var readers: [(snapshot: TransactionNumber, index: Index)] = []
  private(set) var evicted: Set<Int> = []
  /// The number of copied bytes.
  private(set) var copiedBytes = 0
  var used: Set<Int> = []
  private var contents: [RecordAddress: Record] = [:]
  private var reclaim: (state: Reclaim, addresses: [RecordAddress])?
  private var committed = TransactionNumber.zero
  private var version = 0

  init(layout: ExtentLayout, count: Int, meanRecordSize: Int) {
    log = ExtentLog(layout: layout)
    policy = ReclaimPolicy(meanRecordSize: meanRecordSize)
    for _ in 0..<count { _ = log.add() }
    commit()
    commit()
  }

  private var current: TransactionNumber { TransactionNumber(number: committed.number + 1) }

  private var horizon: TransactionHorizon {
    TransactionHorizon(current: current, oldestSnapshot: readers.map(\.snapshot).min())
  }

  mutating func commit() { committed = current }

  mutating func beginReading() { readers.append((committed, index)) }

  mutating func endReading(at position: Int) { readers.remove(at: position) }

  /// Returns the keys whose records a reader no longer finds unchanged.
  func damagedKeys(of reader: (snapshot: TransactionNumber, index: Index)) -> [Int] {
    reader.index.values.filter { contents[$0.address] != $0.record }.map(\.record.key)
  }

  /// The live bytes of each extent, by the index.
  var indexedBytes: [ExtentNumber: Int] {
    var bytes: [ExtentNumber: Int] = [:]
    for (address, record) in index.values {
      guard case .inExtent(let number, _)? = address.location(in: log.layout) else { continue }
      bytes[number, default: 0] += ExtentLayout.room(for: record.size)
    }
    return bytes
  }

  // MARK: Writes

  mutating func remove(_ key: Int) {
    guard let old = index.removeValue(forKey: key) else { return }
    log.remove(old.record.size, at: old.address)
  }

  /// Writes a record. Returns false if no extent can be written now.
  mutating func put(_ key: Int, size: Int) -> Bool {
    if policy.isNeeded(in: log) { reclaimSome() }
    guard let address = log.place(size, in: .writes, during: horizon) else {
      reclaimSome()
      return false
    }
    remove(key)
    version += 1
    store(Record(key: key, version: version, size: size), at: address)
    return true
  }

  private mutating func store(_ record: Record, at address: RecordAddress) {
    if case .inExtent(let number, ExtentLayout.headerSize)? = address.location(in: log.layout) {
      // The first record of an extent overwrites the former contents.
      contents = contents.filter { address, _ in
        if case .inExtent(number, _)? = address.location(in: log.layout) { false } else { true }
      }
    }
    contents[address] = record
    index[record.key] = (address, record)
    used.remove(record.key)
  }

  /// Examines up to a quarter of an extent.
  private mutating func reclaimSome() {
    if reclaim == nil {
      guard let choice = policy.choose(in: log, canCopy: canCopy), let extent = log[choice.number] else { return }
      let addresses = contents.keys.filter {
        if case .inExtent(choice.number, _)? = $0.location(in: log.layout) { true } else { false }
      }
      reclaim = (Reclaim(choice, age: extent.age), addresses.sorted())
    }
    var bytes = 0
    while bytes < log.layout.size / 4, let address = reclaim?.addresses[safely: reclaim?.state.position ?? 0] {
      bytes += examine(address)
    }
    if let done = reclaim, done.state.position == done.addresses.count {
      log.empty(done.state.number, in: current)
      reclaim = nil
    }
  }

  /// Whether the open extent of copies or a free extent has room for the largest record.
  private var canCopy: Bool {
    var probe = log
    return probe.place(log.layout.largestRecord, in: .copies, from: .zero, during: horizon) != nil
  }

  private mutating func examine(_ address: RecordAddress) -> Int {
    guard let record = contents[address], let age = reclaim?.state.age else { return 0 }
    let isLive = index[record.key]?.address == address
    let finding: Reclaim.Finding = isLive ? .live(size: record.size, isUsed: used.contains(record.key)) : .dead
    let canCopy = canCopy
    switch reclaim?.state.examine(finding, in: log.layout, canCopy: canCopy) {
    case .copy?:
      guard let target = log.place(record.size, in: .copies, from: age, during: horizon) else { return 0 }
      log.remove(record.size, at: address)
      store(record, at: target)
      copiedBytes += record.size
    case .evict?:
      remove(record.key)
      evicted.insert(record.key)
    case .skip?, nil: break
    }
    return record.size
  }
}

extension Array {
  fileprivate subscript(safely index: Int) -> Element? { indices.contains(index) ? self[index] : nil }
}
