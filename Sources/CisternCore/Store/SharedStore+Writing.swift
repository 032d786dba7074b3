import Eviction

// A batch over several caches: all of them are locked at once, and the second tier has one batch.

extension SharedStore {
  /// Applies the writes of several caches as one, or none of them. Begins again if a key is written in between.
  ///
  /// No two members may belong to the same cache.
  func write(_ members: [any StoreWriteMember]) throws(CisternError) -> StoreWriteOutcome {
    try check(members)
    let ordered = members.sorted { $0.identity < $1.identity }
    for member in ordered { member.watch() }
    defer { for member in ordered { member.unwatch() } }
    while true {
      for member in ordered { try member.prepare() }
      let writing = ordered.filter { $0.count > 0 }
      if writing.isEmpty { return .nothing }
      try checkSize(of: writing)
      try fit(writing)
      reserve(writing)
      var outcome: StoreWriteOutcome?
      defer { if outcome == nil { for member in writing { member.release() } } }
      outcome = try apply(writing)
      if let outcome { return outcome }
    }
  }

  private func check(_ members: [any StoreWriteMember]) throws(CisternError) {
    guard let foreign = members.first(where: { $0.store !== self }) else { return }
    throw CisternError(
      .invalidArgument,
      "\(foreign.name.isEmpty ? "a cache without a store" : "the cache \"\(foreign.name)\"") does not belong to this store; nothing was stored",
      location: "writing to several caches", remedy: "Use one batch or draft for each store")
  }

  private func checkSize(of members: [any StoreWriteMember]) throws(CisternError) {
    guard let partition = members.lazy.compactMap(\.partition).first else { return }
    try partition.checkBatch(of: members.flatMap(\.tierWrites), location: "writing to several caches")
  }

  /// Divides the memory limit among the members. Those without a second tier come first, because only memory can hold
  /// their values.
  private func fit(_ members: [any StoreWriteMember]) throws(CisternError) {
    var room = budget.costLimit
    for member in members where member.partition == nil {
      let (cost, isWhole) = member.fit(within: room)
      guard isWhole else {
        throw CisternError(
          .tooLarge, "the batch is larger than the memory limit; nothing of it was stored",
          location: "cache \"\(member.name)\"", remedy: "Divide the batch, or raise the memory limit")
      }
      room -= cost
    }
    for member in members where member.partition != nil { room -= member.fit(within: room).cost }
  }

  /// Reserves the room of all members at once. A member that holds its room while it waits for another's could wait
  /// forever for a batch that does the same.
  private func reserve(_ members: [any StoreWriteMember]) {
    while let (count, short) = reserveUntilShort(members) {
      for member in members.prefix(count) { member.release() }
      short.evictOrPause()
    }
  }

  /// Reserves the room of the members in order, up to one that has too little. Returns that member's shortage, and the
  /// number of members that have reserved.
  private func reserveUntilShort(_ members: [any StoreWriteMember]) -> (count: Int, MemoryShortage)? {
    for (count, member) in members.enumerated() {
      if let short = member.reserve() { return (count, short) }
    }
    return nil
  }

  /// Applies prepared writes. Returns nil if a key has changed, and then nothing has happened.
  ///
  /// - Throws: `CisternError` if no tier would hold the writes of a member. Nothing has happened then.
  private func apply(_ members: [any StoreWriteMember]) throws(CisternError) -> StoreWriteOutcome? {
    let tier = secondTier as? any TransactionalTier
    let partitions = members.compactMap(\.partition)
    // The gate of the second tier precedes the locks of all caches.
    let batch = partitions.isEmpty ? nil : tier?.beginBatch()
    let batches = tier == nil ? members.map { $0.partition?.beginBatch() } : members.map { _ in batch }
    // Asked after the batch began, and before a write is staged: a close in between must not divide the batch.
    let refusal = zip(members, batches).lazy.compactMap { member, batch in batch.flatMap { member.refusal(in: $0) } }
      .first
    let applied = refusal == nil && lock(members[...], batches[...])
    let ticket = batch.flatMap { tier?.endBatch($0) }
    var tickets: [(any TransactionalPartition, CommitTicket)] = []
    if tier == nil {
      for (member, batch) in zip(members, batches) {
        guard let partition = member.partition, let batch else { continue }
        tickets.append((partition, partition.endBatch(batch)))
      }
    }
    if let refusal { throw refusal }
    guard applied else { return nil }
    for member in members { member.finish() }
    if let refusal = members.lazy.compactMap({ $0.refusal() }).first { return .refused(refusal) }
    if let tier, let ticket { return .tier(tier, ticket) }
    return tickets.isEmpty ? .nothing : .partitions(tickets.filter { $0.1 > .zero })
  }

  /// Locks the first member, then the others, and applies all writes while all are locked. A reader that sees the write
  /// of one cache therefore waits for those of the others.
  private func lock(_ members: ArraySlice<any StoreWriteMember>, _ batches: ArraySlice<BatchToken?>) -> Bool {
    guard let first = members.first, let batch = batches.first else { return true }
    return first.apply(in: batch) { lock(members.dropFirst(), batches.dropFirst()) }
  }
}
