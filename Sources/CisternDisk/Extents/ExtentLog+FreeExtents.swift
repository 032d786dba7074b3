// The free extents that a transaction can write to, and those that wait for commits or readers.

extension ExtentLog {
  /// Returns whether records of these sizes have places in this transaction, in this order.
  func hasRoom(for sizes: some Sequence<Int>, in stream: Extent.Stream, during horizon: TransactionHorizon) -> Bool {
    var rest = openRoom(in: stream)
    // Counting visits all extents of the file. Most batches fit into the open one.
    lazy var left = reusableExtents(for: stream, during: horizon).count
    for size in sizes {
      let room = ExtentLayout.room(for: size)
      if room > rest {
        guard left > 0 else { return false }
        left -= 1
        rest = layout.capacity
      }
      rest -= room
    }
    return true
  }

  /// Returns whether a free extent waits only for commits, and not for a reader.
  func hasPending(during horizon: TransactionHorizon) -> Bool {
    let later = TransactionHorizon(
      current: TransactionNumber(number: horizon.current.number + 2), oldestSnapshot: horizon.oldestSnapshot)
    return free.contains { _, emptiedBy in
      !horizon.allowsReuse(of: emptiedBy) && later.allowsReuse(of: emptiedBy)
    }
  }

  /// Returns whether a free extent waits for commits or for a reader.
  func hasWaiting(during horizon: TransactionHorizon) -> Bool {
    free.contains { _, emptiedBy in !horizon.allowsReuse(of: emptiedBy) }
  }

  /// The number of free extents that are not held, whether or not they can be written yet.
  var availableCount: Int { free.reduce(0) { count, _ in count + 1 } }

  /// The free extents that are not held, and the transactions that emptied them.
  private var free: some Sequence<(number: ExtentNumber, emptiedBy: TransactionNumber)> {
    all.lazy.compactMap { number, extent in
      guard case .free(let emptiedBy) = extent.state, !summary.held.contains(number) else { return nil }
      return (number, emptiedBy)
    }
  }

  /// Returns the free extent that receives the next records, if this transaction may write to one.
  func reusable(for stream: Extent.Stream, during horizon: TransactionHorizon) -> ExtentNumber? {
    let reusable = reusableExtents(for: stream, during: horizon)
    return reusable.count > 0 ? reusable.first : nil
  }

  /// Returns the number of free extents that this transaction may write to, and the one that receives records first.
  ///
  /// That is an extent that the transaction has added, because LMDB writes it at the commit in any case. Otherwise it
  /// is the one that was emptied first.
  private func reusableExtents(
    for stream: Extent.Stream, during horizon: TransactionHorizon
  ) -> (count: Int, first: ExtentNumber?) {
    var found: (number: ExtentNumber, rank: UInt)?
    var count = 0
    for (number, emptiedBy) in free where horizon.allowsReuse(of: emptiedBy) {
      count += 1
      let rank = summary.added.contains(number) ? 0 : emptiedBy.number + 1
      if found.map({ rank < $0.rank }) ?? true { found = (number, rank) }
    }
    // Copies need the last extent: without it, no extent could be emptied without eviction.
    let kept = stream == .writes && self.count > 2 ? 1 : 0
    return (max(count - kept, 0), found?.number)
  }

  /// The free extent that later transactions wait for least: the one that was emptied last.
  ///
  /// It is not one that the transaction in progress has added. LMDB would take new pages for it, and never use them.
  var newestFree: ExtentNumber? { newestFree(except: []) }

  /// Returns the free extent that later transactions wait for least, except some extents.
  func newestFree(except excluded: [ExtentNumber]) -> ExtentNumber? {
    var found: (number: ExtentNumber, emptiedBy: TransactionNumber)?
    for (number, extent) in all where !excluded.contains(number) {
      guard case .free(let emptiedBy) = extent.state, !summary.added.contains(number) else { continue }
      if found.map({ $0.emptiedBy <= emptiedBy }) ?? true { found = (number, emptiedBy) }
    }
    return found?.number
  }
}
