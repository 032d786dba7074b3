extension Cache {
  /// Shows a change of a value at once, and keeps it if `operation` confirms it; else takes it back.
  ///
  /// ```swift
  /// try await articles.editValue(forKey: id) { article in
  ///   var article = article
  ///   article?.title = "A better title"
  ///   return article
  /// } confirmedBy: {
  ///   try await client.rename(id, to: "A better title")
  /// }
  /// ```
  ///
  /// What `change` makes of the value is what every look-up finds and observers are told, before this suspends. Then
  /// `operation` runs, in the caller's task. When it returns a value (what the server made of it), that becomes the key's, merged
  /// where the cache merges; when it returns nil, the changed value stays. When it throws, or is cancelled, the change is
  /// taken back.
  ///
  /// Several edits of a key may be under way. Each is kept or taken back by itself: what is shown is always what the
  /// unconfirmed changes, in their order, make of the confirmed value. A load, set, update, batch or draft replaces the
  /// confirmed value, and the changes are applied to it anew; a load that began before one was confirmed does not. A removal ends them: their operations run on, and nothing
  /// is stored of them. So does a lifetime that is over, for the confirmed value: an edit that is confirmed later is applied to no
  /// value.
  ///
  /// Nothing unconfirmed is ever on disk, nor in ``withBytes(forKey:_:)``: a crash leaves the confirmed value.
  ///
  /// - Parameters:
  ///   - key: the key.
  ///   - expiry: the confirmed value's lifetime; nil for the cache's.
  ///   - tags: the tags of the confirmed value, for ``removeAll(tagged:context:)``; nil for those of the key's value.
  ///   - context: who edits, for ``Change/context``; all changes that come of the edit have it.
  ///   - change: makes the shown value of the one below it, which may be in grace; nil for none. Called outside all locks, as often as that one
  ///     changes: it should do nothing else, and must not write the key.
  ///   - operation: has the change confirmed.
  /// - Returns: the confirmed value; nil where there is none, or the key was removed meanwhile. Throws what `operation`
  ///   throws, and `CisternError` where its value cannot be merged.
  @discardableResult
  public nonisolated(nonsending) func editValue(
    forKey key: Key, expiry: Expiry? = nil, tags: [String]? = nil, context: WriterContext? = nil,
    _ change: @escaping @Sendable (Value?) -> Value?, confirmedBy operation: () async throws -> Value?
  ) async throws -> Value? {
    try Task.checkCancellation()
    let hash = table.hash(key)
    let number = edits.makeNumber()
    // The key is watched for as long as the edit is pending: that is what keeps its mark.
    table.watch(hash)
    defer { table.unwatch(hash) }
    _ = settle(key, hash: hash, context: context) { queue, _ throws(Never) in
      queue.add(EditQueue.Edit(number: number, change: change))
      return .shows
    }
    do {
      let answer = try await operation()
      await secondTier?.partition.waitForRoom()
      return try confirm(
        number, answer: answer, forKey: key, hash: hash, storing: Storing(expiry: expiry, tags: tags), context: context)
    } catch {
      _ = settle(key, hash: hash, context: context) { queue, _ throws(Never) in
        guard queue.contains(number) else { return .nothing }
        queue.withdraw(number)
        return .shows
      }
      throw error
    }
  }

  private func confirm(
    _ number: UInt64, answer: Value?, forKey key: Key, hash: UInt64, storing: Storing, context: WriterContext?
  ) throws(CisternError) -> Value? {
    try settle(key, hash: hash, storing: storing, context: context) { queue, usable throws(CisternError) in
      guard queue.contains(number) else { return .nothing }
      // A value whose time is up does not come back, edited or not.
      let isGone = if case (nil, .some) = (usable, queue.base) { true } else { false }
      if isGone { queue.replaceBase(by: nil) }
      guard let answer else {
        let isFirst = queue.pending.first?.number == number
        queue.confirm(number)
        return isFirst && !isGone ? .confirmsWhatIsShown : .confirms
      }
      queue.confirm(number, by: try merged(answer, over: usable, forKey: key))
      return .confirms
    }?.queue.base
  }
}
