extension SharedStore {
  /// A ticket of a removal, and the part of the second tier that commits it.
  enum RemovalTicket: Sendable {
    /// One commit has the removal from all caches.
    case tier(any TransactionalTier, CommitTicket)
    /// The removal from one cache has its own commit.
    case partition(any TransactionalPartition, CommitTicket)

    nonisolated(nonsending) func waitForCommit() async throws(CisternError) {
      switch self {
      case .tier(let tier, let ticket): try await tier.waitForCommit(ticket)
      case .partition(let partition, let ticket): try await partition.waitForCommit(ticket)
      }
    }
  }

  /// Removes all values with a tag from all caches, open or not. Returns the tickets to wait for.
  func removeAll(tagged tag: String, context: WriterContext?) -> [RemovalTicket] {
    let tier = secondTier as? any TransactionalTier
    let batch = tier?.beginInvalidating()
    // Each removal retains its cache. A cache that this thread releases last must not end inside the batch.
    var removals: [StagedRemoval] = []
    var members = removeAll(tagged: tag, context: context, in: batch, from: [:], &removals)
    if let tier, let batch {
      let names = members.filter { $0.value.usesTier }.keys
      tier.stageInvalidation(.tag(tag), exceptIn: Set(names), in: batch)
    }
    // A cache that was opened since can have read a value before the tier concealed it. A cache that is opened from now
    // on cannot.
    var count: Int
    repeat {
      count = removals.count
      members = removeAll(tagged: tag, context: context, in: batch, from: members, &removals)
    } while count != removals.count
    let ticket = batch.flatMap { tier?.endInvalidating($0) }
    for removal in removals { removal.finish() }
    if let tier, let ticket { return [.tier(tier, ticket)] }
    return removals.compactMap { removal in
      guard let partition = removal.partition, let ticket = removal.ticket else { return nil }
      return .partition(partition, ticket)
    }
  }

  /// A cache from which the values are removed.
  private struct RemovedMember {
    let identity: ObjectIdentifier
    let usesTier: Bool
  }

  /// Removes the values from all open caches, except those in `done`. Returns both together, by name.
  private func removeAll(
    tagged tag: String, context: WriterContext?, in batch: BatchToken?, from done: [String: RemovedMember],
    _ removals: inout [StagedRemoval]
  ) -> [String: RemovedMember] {
    var done = done
    for (name, member) in caches where done[name]?.identity != ObjectIdentifier(member) {
      let removal = member.stageRemoval(tagged: tag, context: context, in: batch)
      removals.append(removal)
      done[name] = RemovedMember(identity: ObjectIdentifier(member), usesTier: removal.partition != nil)
    }
    return done
  }
}
