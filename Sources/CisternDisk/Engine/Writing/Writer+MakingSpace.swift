import CisternCore
import LMDB
import Synchronization

extension Writer {
  /// Makes room after the map or the device was found full, so that the caller can try the transaction again.
  ///
  /// The method evicts records in small transactions, and more of them with each call. If an item did not fit into the
  /// file without other records, the method gives up that item.
  ///
  /// - Throws: `error` if it cannot make room.
  func makeSpace(
    _ commit: inout CommitState, in file: DiskFile, budget: inout Int, _ error: LMDBError
  ) throws(LMDBError) {
    commit.attempts.noteFullMap()
    let attempts = commit.attempts.fullMaps
    let isResized = error.code == .noSpace ? try noteFullDevice(file) : false
    if attempts > Writer.mostFullMaps { throw error }
    try waitForReaders(of: file)
    let limits = deviceRoom.limits
    budget = max(1, min(budget / 2, limits.pagesPerTransaction))
    // If the map is full, the first call only lets two commits pass. LMDB can then reuse the pages that the last
    // commits freed, and readers may have ended.
    if attempts == 1, error.code == .mapFull, try commitTwice(in: file) { return }
    if error.code == .mapFull, case .dense(let tables) = file.layout,
      try clearPages(for: tables, in: file, during: &commit)
    {
      return
    }
    extraMargin = isResized ? 0 : min(extraMargin + limits.pagesPerTransaction / 2, limits.pageCount / 4)
    let hadRecords =
      switch file.layout {
      case .ordered:
        try evict(
          bytes: limits.pagesPerTransaction * min(attempts, 8) * DiskLimits.pageSize,
          givingSecondChances: attempts <= 8, in: file, during: &commit)
      case .dense: try freeSpace(file, times: min(attempts, 8), during: &commit)
      }
    // The smaller limits bound the number of extents then.
    if error.code == .noSpace { extents?.experience.ceiling.remove() }
    guard !hadRecords else { return }
    // The pages that LMDB keeps in use can divide the free ones. Each commit moves them, so a large record may fit
    // later.
    try mergeFreeLists(of: file)
    if commit.attempts.noteEmptyFile() > Writer.mostAttemptsInEmptyFile {
      // Without the preliminaries, the next item is not the one that found no room.
      guard commit.arePreliminariesCommitted, commit.position < commit.group.count else { throw error }
      commit.skip(
        deviceRoom.isLimited
          ? CisternError(
            .noSpace, "the device has no room for the record, although all others were evicted",
            location: engine.directory, remedy: "Free space on the device, or store smaller values")
          : CisternError(
            .tooLarge, "the record does not fit, although all others were evicted", location: engine.directory))
      commit.attempts.forgetFullMaps()
    }
  }

  /// Replaces the disk limit by the size that the device has room for. Returns whether the sizes have changed.
  func noteFullDevice(_ file: DiskFile) throws(LMDBError) -> Bool {
    let information = try file.environment.information()
    // The failed transaction has extended the file as far as the device allows.
    let pages = information.fileSize / DiskLimits.pageSize - file.layout.sparePages
    return deviceRoom.noteFull(pages: max(information.pageCount, pages))
  }

  /// Tries a larger size from time to time while the device is smaller than the disk limit.
  func tryLargerSize() {
    extents?.noteGroup()
    // LMDB is not asked: outside a transaction, its pages can be missing because another program truncated the file.
    let pages = engine.counters.fileBytes.load(ordering: .relaxed) / DiskLimits.pageSize
    switch deviceRoom.beginGroup(pages: pages, freePages: { engine.freeBytes.map { $0 / DiskLimits.pageSize } }) {
    case .unchanged: break
    case .grown:
      extraMargin = 0
      extents?.experience.ceiling.remove()
    case .recovered:
      extents?.experience.ceiling.remove()
      report(StoreReport(.recovered, "the device has room for more records again", location: engine.directory))
    }
  }

  /// Reports once that the device is smaller than the disk limit.
  func reportSmallDevice() {
    guard deviceRoom.noteSuccess() == .send else { return }
    let limit = ByteCount.bytes(engine.limits.limit)
    let size = ByteCount.bytes(deviceRoom.limits.mapSize)
    report(
      StoreReport(
        .deviceFull,
        "the device is full below the disk limit of \(limit); the store keeps the newest records in about \(size), and uses more when the device has room. Free space on the device, or open the store with a lower disk limit",
        location: engine.directory))
  }

  /// Evicts about this many bytes, in at least three transactions, because LMDB reuses a page two commits after it
  /// was freed.
  ///
  /// Returns false if the file has no record left.
  private func evict(
    bytes: Int, givingSecondChances: Bool, in file: DiskFile, during commit: inout CommitState
  ) throws(LMDBError) -> Bool {
    var givesSecondChances = givingSecondChances
    var freed = 0
    var rounds = 0
    var atOnce = 16
    var passes = 0
    var hasRecords = true
    // If all records are marked as read, the first pass clears the marks, and the second pass evicts.
    while rounds < 3 || (freed < bytes && hasRecords) {
      rounds += 1
      do throws(LMDBError) {
        let (evicted, isEmpty) = try evictSome(
          atOnce, givingSecondChances: givesSecondChances, in: file, during: &commit)
        freed += evicted
        hasRecords = !isEmpty
      } catch {
        guard isAboutRoom(error) else { throw error }
        // Even one eviction copies some pages.
        if atOnce == 1 { try freeForReuse(in: file, passes: &passes, after: error) }
        // A second chance copies more pages than an eviction does. A reader is no reason to end them.
        if passes > 1 { givesSecondChances = false }
        atOnce = 1
      }
      // A bound, in case that another process fills the room as fast as this one makes it.
      if rounds > 10_000 { break }
    }
    return hasRecords
  }

  /// Evicts at most `count` records in one transaction. Returns the freed bytes, and whether no record is left.
  private func evictSome(
    _ count: Int, givingSecondChances givesSecondChances: Bool, in file: DiskFile, during commit: inout CommitState
  ) throws(LMDBError) -> (evicted: Int, isEmpty: Bool) {
    try makeRoom(in: file, during: &commit) { (step, transaction) throws(LMDBError) in
      var evicted = 0
      for _ in 0..<count {
        switch try step.records.evictOldest(givingSecondChances: givesSecondChances, in: &transaction) {
        case .evicted(let bytes): evicted += bytes
        case .secondChance: continue
        case .noRecord:
          // The change makes the commit count, which brings the pages that were freed before closer to reuse.
          try step.advanceTransaction(in: &transaction.transaction)
          return (evicted, true)
        }
      }
      return (evicted, false)
    }
  }

  /// Runs `body` in a separate transaction, and counts and reports the records that it evicts.
  func makeRoom<Result>(
    in file: DiskFile, during commit: inout CommitState,
    _ body: (inout WriteStep, inout IndexTransaction) throws(LMDBError) -> Result
  ) throws(LMDBError) -> Result {
    var evictedKeys: [EvictedKey] = []
    let invalidationVersions = engine.invalidationVersions
    do throws(LMDBError) {
      let (result, evicted) = try commitSeparately(in: file) {
        (step, transaction) throws(LMDBError) -> (Result, [EvictedRecord]) in
        step.records.setPosition(commit.position)
        let result = try body(&step, &transaction)
        let evicted = step.records.evicted
        evictedKeys = commit.evictedKeys(evicted, among: engine.partitions, since: invalidationVersions)
        for key in evictedKeys { key.markLost() }
        return (result, evicted)
      }
      commit.note(evicted, evictedKeys: evictedKeys, among: engine.partitions)
      return result
    } catch {
      for key in evictedKeys { key.unmarkLost() }
      throw error
    }
  }

  /// The number of attempts for an item or batch. A large record needs pages in a row, for which nearly all others can
  /// have to leave. Another process can fill a part of the room in between.
  private static let mostFullMaps = 256
  /// The number of attempts for a record that finds no room in a file without other records.
  private static let mostAttemptsInEmptyFile = 8
  /// The number of times that an attempt to make room lets commits pass.
  private static let mostPasses = 16

  /// Lets LMDB reuse pages, after even the smallest transaction that makes room found none.
  ///
  /// Waits for a reader that began a moment ago, because it can keep the pages that the last commits freed, and ends
  /// soon. Without such a reader, commits that copy fewer pages make freed pages reusable.
  ///
  /// - Parameters:
  ///   - file: The file.
  ///   - passes: The number of times that commits have passed for this attempt.
  ///   - error: The error of the transaction.
  /// - Throws: `error` if the file has no room for such commits, or if they have passed often enough.
  func freeForReuse(in file: DiskFile, passes: inout Int, after error: LMDBError) throws(LMDBError) {
    if try waitForReaders(of: file, laggingMoreThan: 0) { return }
    guard passes < Writer.mostPasses, try commitTwice(in: file) else { throw error }
    passes += 1
  }

  /// Lets LMDB merge its lists of free pages, after it found no pages in a row in a file without records.
  ///
  /// The lists are in pages, too. After many small transactions, these pages divide the free ones. LMDB merges the
  /// lists that it reads in a search for pages in a row, if it finds these.
  private func mergeFreeLists(of file: DiskFile) throws(LMDBError) {
    var pages = deviceRoom.limits.largestRecord / DiskLimits.pageSize
    while pages > 1 {
      do throws(LMDBError) {
        return try commitSeparately(in: file) { (step, transaction) throws(LMDBError) in
          try step.mergeFreeLists(withPages: pages, in: &transaction.transaction)
        }
      } catch {
        guard isAboutRoom(error) else { throw error }
        pages /= 2
      }
    }
  }

  /// Commits two empty changes. Returns false if the file has no room even for the first.
  func commitTwice(in file: DiskFile) throws(LMDBError) -> Bool {
    var count = 0
    do throws(LMDBError) {
      while count < 2 {
        try commitSeparately(in: file) { (step, transaction) throws(LMDBError) in
          try step.advanceTransaction(in: &transaction.transaction)
        }
        count += 1
      }
    } catch {
      guard isAboutRoom(error) else { throw error }
    }
    // Also a single commit brings the pages that were freed before closer to reuse.
    return count > 0
  }

  /// Whether the map or the device was too small for the transaction. A device can cut a write short.
  func isAboutRoom(_ error: LMDBError) -> Bool {
    let code = engine.diagnosis(of: error).code
    return code == .mapFull || code == .noSpace
  }
}
