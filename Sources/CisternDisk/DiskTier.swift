import CisternCore

/// The built-in second tier: records in one LMDB file, in a directory that belongs to the store.
///
/// Opening a directory again in this process shares the engine that is open. The file never exceeds the limit.
/// Contents that cannot be used are set aside and reported. While the disk fails, the tier refuses
/// writes, and misses if it cannot read. It resumes when the disk works again. Callers see no error in these cases.
package final class DiskTier: SharedTier {
  let engine: DiskEngine
  let owner: DiskOwner
  /// Whether this tier has opened the directory. Otherwise it shares the engine that was open.
  package let isFirst: Bool

  /// Opens the store in `directory`. Creates the directory and its missing parents unless the options are
  /// read-only.
  ///
  /// The cost does not depend on the number of records, with two exceptions. A file that exceeds the limit, or
  /// has another layout, is rewritten. A file that is not as the store left it is checked page by page.
  ///
  /// - Parameters:
  ///   - directory: The directory of the store.
  ///   - options: The options, which must agree with other openings of the directory in this process.
  ///   - report: A closure that receives problems that the tier has handled. It may run on any thread, and runs
  ///     outside all locks and transactions.
  /// - Throws: ``CisternError`` if the store cannot be opened.
  package init(
    directory: String, options: DiskOptions, report: @escaping @Sendable (StoreReport) -> Void = { _ in }
  ) throws(CisternError) {
    owner = DiskOwner()
    (engine, isFirst) = try DiskRegistry.shared.open(
      directory: directory, options: options, owner: owner, report: report)
  }

  /// Opens the store in `directory`. See ``init(directory:options:report:)``.
  package convenience init(
    directory: String, limit: ByteCount, durability: Durability = .powerCut, isReadOnly: Bool = false,
    report: @escaping @Sendable (StoreReport) -> Void = { _ in }
  ) throws(CisternError) {
    try self.init(
      directory: directory, options: DiskOptions(limit: limit, durability: durability, isReadOnly: isReadOnly),
      report: report)
  }

  /// The settings in which further openings of the directory in this process must agree.
  package var settings: OpenSettings { engine.settings }

  /// The identity of the state that all tiers of the directory share.
  package var engineIdentity: ObjectIdentifier { ObjectIdentifier(engine) }

  deinit {
    // The writer thread still commits the staged writes. The deinitializer does not wait for it.
    withdraw()
  }

  /// Ends the opening without a flush, and does not wait.
  package func withdraw() {
    if owner.close() { DiskRegistry.shared.release(engine, owner: owner) }
  }

  package func partition(
    named name: String, lossHandler: @escaping @Sendable ([RecordLoss]) -> Void
  ) throws(CisternError) -> any SecondTierPartition {
    try diskPartition(named: name, lossHandler: lossHandler)
  }

  /// Opens the partition of a cache. See ``SecondTier/partition(named:lossHandler:)``.
  package func diskPartition(
    named name: String, lossHandler: @escaping @Sendable ([RecordLoss]) -> Void = { _ in }
  ) throws(CisternError) -> DiskPartition {
    let name = name.normalizedForKey()
    guard name.utf8.count <= MetaTable.longestName else {
      throw CisternError(
        .invalidArgument,
        "the cache name has \(name.utf8.count) bytes of UTF-8; it must have at most \(MetaTable.longestName)",
        location: engine.directory)
    }
    if owner.isClosed || engine.isInherited { throw engine.closedError("open the cache \(name)") }
    let partition = engine.partition(named: name)
    partition.addHandler(lossHandler, for: owner.number)
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

  /// Ends the opening immediately: partitions miss and refuse writes from now on.
  ///
  /// Returns true for the first call, which must be followed by ``release()``.
  package func detach() -> Bool { owner.close() }

  /// Releases the directory after ``detach()``. If no other tier has it open, suspends until the engine is closed.
  package func release() async {
    if DiskRegistry.shared.release(engine, owner: owner) { await engine.waitForStop() }
  }

  /// Whether this opening has ended.
  var isClosed: Bool { owner.isClosed }

  package var statistics: SecondTierStatistics {
    var statistics = engine.statistics(of: engine.partitions)
    statistics.entryCount = max(statistics.entryCount, engine.counters.records.load(ordering: .relaxed))
    if owner.isClosed { statistics.mode = .closed }
    return statistics
  }
}
