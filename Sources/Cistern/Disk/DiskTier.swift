import Synchronization

/// The second tier that ships: records in one LMDB file, in a directory of the store's own.
///
/// Opening a directory that is open in this process shares what is open. The file never outgrows the limit; what is on
/// disk and cannot be used is set aside, and reported; a disk that fails makes the tier refuse writes and miss, and
/// come back when it works again. None of these is an error for those who use it.
package final class DiskTier: SecondTier {
  let engine: DiskEngine
  private let owner: DiskOwner

  /// Opens the store in `directory`, which is created with its missing parents unless `options` say read-only.
  ///
  /// `report` is told what went wrong and was dealt with, on any thread, outside all locks and transactions.
  /// Costs nothing that grows with the number of records, unless the limit is smaller than the file is: then what has to
  /// go is evicted first; or the file is not as the store left it: then its pages are looked through.
  package init(
    directory: String, options: DiskOptions, report: @escaping @Sendable (StoreReport) -> Void = { _ in }
  ) throws(CisternError) {
    owner = DiskOwner()
    engine = try DiskRegistry.shared.open(directory: directory, options: options, owner: owner, report: report)
  }

  /// Opens the store in `directory`; see ``init(directory:options:report:)``.
  package convenience init(
    directory: String, limit: ByteCount, durability: Durability = .powerCut, isReadOnly: Bool = false,
    commitInterval: Duration = .milliseconds(5), report: @escaping @Sendable (StoreReport) -> Void = { _ in }
  ) throws(CisternError) {
    try self.init(
      directory: directory,
      options: DiskOptions(
        limit: limit, durability: durability, isReadOnly: isReadOnly, commitInterval: commitInterval),
      report: report)
  }

  deinit {
    // What is staged is still committed, by the writer thread in its own time.
    if owner.close() { DiskRegistry.shared.release(engine, owner: owner) }
  }

  package func partition(
    named name: String, departure: @escaping @Sendable ([Departure]) -> Void
  ) throws(CisternError) -> any SecondTierPartition {
    let name = name.normalizedForKey()
    guard name.utf8.count <= MetaTable.longestName else {
      throw CisternError(
        .invalidArgument,
        "a cache's name has at most \(MetaTable.longestName) bytes of UTF-8; this one has \(name.utf8.count)",
        location: engine.directory)
    }
    if owner.isClosed || engine.isInherited { throw engine.closedError("open the cache \(name)") }
    let partition = engine.partition(named: name)
    partition.addHandler(departure, for: owner.number)
    return DiskPartition(engine: engine, partition: partition, owner: owner)
  }

  package func flush() async throws(CisternError) {
    if owner.isClosed { throw engine.closedError("flush") }
    engine.followFiles()
    try await engine.flush()
  }

  package func close() async throws(CisternError) {
    guard !owner.isClosed else { return }
    var failure: CisternError?
    do throws(CisternError) {
      try await engine.flush()
    } catch {
      failure = error
    }
    if detach() { await release() }
    if let failure { throw failure }
  }

  /// Ends the opening at once: partitions answer misses and refuse writes from now on. True for the first call, which must
  /// be followed by ``release()``.
  func detach() -> Bool { owner.close() }

  /// Releases the directory after ``detach()``. If no other tier has it open, returns when it is closed.
  func release() async {
    if DiskRegistry.shared.release(engine, owner: owner) { await engine.waitForStop() }
  }

  package var statistics: SecondTierStatistics {
    var statistics = engine.statistics(of: engine.partitions)
    statistics.entryCount = max(statistics.entryCount, engine.counters.records.load(ordering: .relaxed))
    if owner.isClosed { statistics.mode = .closed }
    return statistics
  }
}

/// One opening of a directory. Its partitions hold it, to know when it ended.
final class DiskOwner: Sendable {
  private static let numbers = Atomic<Int>(0)

  let number = DiskOwner.numbers.add(1, ordering: .relaxed).newValue
  private let closed = Atomic<Bool>(false)

  @inline(__always)
  var isClosed: Bool { closed.load(ordering: .acquiring) }

  /// Ends the opening; true for the first who does.
  func close() -> Bool {
    !closed.exchange(true, ordering: .acquiringAndReleasing)
  }
}
