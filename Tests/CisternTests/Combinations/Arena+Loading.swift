import CisternTestSupport

@testable import CisternCore

// The loads of the operations. Each records its fetches and its outcome in the journal.

extension Arena {
  /// The behavior of a fetch.
  enum FetchForm: Sendable {
    case usual
    case failing
    /// Waits until the operation opens ``Arena/hold``, even if the fetch is cancelled.
    case held
    /// Announces the document before the fetch ends.
    case announcing(@Sendable (Document) -> Void)
  }

  @discardableResult
  func load(_ policy: LoadPolicy, fetching form: FetchForm = .usual) async -> Record.Outcome {
    let number = beginLoad(policy)
    let outcome: Record.Outcome
    do {
      let loaded = try await cache.loadedValue(forKey: Self.key, tags: [Self.tag], policy: policy) { _ in
        try await fetch(policy, form)
      }
      journal.change { $0.loads[number].source = loaded.source }
      outcome = .value(loaded.value)
    } catch {
      outcome = Self.outcome(of: error)
    }
    endLoad(number, outcome)
    return outcome
  }

  /// Fetches anew, with an outcome of this effect.
  func loadAnew(_ effect: Record.FetchEffect) async {
    await loadAnew { context in try await outcome(effect, of: context, .reload) }
  }

  /// Requests a refresh without a caller.
  func refresh() {
    let now = journal.tick()
    journal.change { record in
      record.refreshes.append(now)
      record.pendingRefreshes += 1
    }
    // The policy is that of a load that does not fetch during the pause after a failure.
    let begins = cache.refresh(Self.key) { context in
      defer { journal.change { $0.pendingRefreshes -= 1 } }
      return try await outcome(.storing, of: context, .cachedOrFetch)
    }
    if !begins { journal.change { $0.pendingRefreshes -= 1 } }
  }

  /// Fetches a document, and returns the outcome. It stores the document instead of keeping a value that does not
  /// exist.
  private func outcome(
    _ effect: Record.FetchEffect, of context: FetchContext<String, Document>, _ policy: LoadPolicy
  ) async throws -> FetchOutcome<Document> {
    let effect = effect == .keeping && context.stored == nil ? .storing : effect
    let document = try await fetch(policy, .usual, effect)
    return switch effect {
    case .storing: .store(document, tags: [Self.tag])
    case .keeping: .keepStored()
    case .returning: .returnOnly(document)
    case .removing: .returnAndRemove(document)
    case .absence: .absent()
    }
  }

  /// Fetches anew, and announces the document before the fetch ends.
  func loadAnnouncing() async {
    await loadAnew { context in
      .store(try await self.fetch(.reload, .announcing { context.announce($0) }), tags: [Self.tag])
    }
  }

  private func loadAnew(
    _ fetch: @escaping @Sendable (FetchContext<String, Document>) async throws -> FetchOutcome<Document>
  ) async {
    let number = beginLoad(.reload)
    do {
      let loaded = try await cache.load(Self.key, policy: .reload, fetch: fetch)
      journal.change { $0.loads[number].source = loaded?.source }
      endLoad(number, loaded.map { .value($0.value) } ?? .missing)
    } catch {
      endLoad(number, Self.outcome(of: error))
    }
  }

  func bulkLoad(fetching form: FetchForm = .usual) async {
    let policy = LoadPolicy.cachedOrFetch
    let number = beginLoad(policy)
    do {
      let loaded = try await cache.values(forKeys: [Self.key, Self.absentKey], tags: [Self.tag]) { keys in
        var documents: [String: Document] = [:]
        for key in keys { documents[key] = key == Self.key ? try await fetch(policy, form) : Document() }
        return documents
      }
      endLoad(number, Self.outcome(of: loaded))
    } catch {
      endLoad(number, Self.outcome(of: error))
    }
  }

  /// Loads the key and an absent one with contexts. The fetch keeps the stored value of the key, if there is one.
  func bulkLoadWithContexts() async {
    let policy = LoadPolicy.cachedOrFetch
    let number = beginLoad(policy)
    do {
      let loaded = try await cache.load(keys: [Self.key, Self.absentKey]) { contexts in
        var outcomes: [String: FetchOutcome<Document>] = [:]
        for context in contexts {
          outcomes[context.key] = context.key == Self.key ? try await outcome(.keeping, of: context, policy) : .absent()
        }
        return outcomes
      }
      endLoad(number, Self.outcome(of: loaded))
    } catch {
      endLoad(number, Self.outcome(of: error))
    }
  }

  func loadBystander() async {
    _ = try? await cache.value(forKey: Self.nestedKey, expiry: .after(.zero)) { _ in Document() }
  }

  private func beginLoad(_ policy: LoadPolicy) -> Int {
    let hadFreshValue = cache.contains(Self.key)
    let span = Record.Span(began: journal.tick())
    return journal.change { record in
      record.loads.append(Record.Load(policy: policy, hadFreshValue: hadFreshValue, span: span))
      return record.loads.count - 1
    }
  }

  private func endLoad(_ number: Int, _ outcome: Record.Outcome) {
    let now = journal.tick()
    journal.change { record in
      record.loads[number].span.ended = now
      record.loads[number].outcome = outcome
    }
  }

  private static func outcome(of loaded: LoadedValues<String, Document>) -> Record.Outcome {
    if let document = loaded[key] { return .value(document) }
    return loaded.failures[key].map { outcome(of: $0) } ?? .missing
  }

  private static func outcome(of error: any Error) -> Record.Outcome {
    switch error {
    case is CancellationError: .cancelled
    case let error as CisternError: .error(error.code)
    default: .failed
    }
  }

  /// Fetches a document with one new mark.
  private func fetch(
    _ policy: LoadPolicy, _ form: FetchForm = .usual, _ effect: Record.FetchEffect = .storing
  ) async throws -> Document {
    let mark = journal.mark(.fetch)
    let span = Record.Span(began: journal.tick())
    let number = journal.change { record in
      record.fetches.append(Record.Fetch(mark: mark, policy: policy, span: span))
      return record.fetches.count - 1
    }
    if case .announcing(let announce) = form { announce(Document(mark)) }
    await checkpoint.pass(.fetch)
    if case .held = form { await hold.passUncancelled() }
    let now = journal.tick()
    let wasCancelled = Task.isCancelled
    let fails = if case .failing = form { true } else { false }
    journal.change { record in
      record.fetches[number].span.ended = now
      record.fetches[number].wasCancelled = wasCancelled
      record.fetches[number].hasFailed = fails
      record.fetches[number].effect = effect
      if fails { record.failures.append(now) }
    }
    if fails { throw Broken() }
    return Document(mark)
  }
}
