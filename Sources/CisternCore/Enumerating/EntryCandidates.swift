/// The keys that an enumeration visits beside the second tier's records, in order: those of memory, staging and
/// unconfirmed edits. Pure.
@usableFromInline
struct EntryCandidates<Key: Sendable>: Sendable {
  /// A key of memory, staging or the edits.
  @usableFromInline
  struct Candidate: Sendable {
    @usableFromInline let position: KeyPosition
    @usableFromInline let bytes: [UInt8]
    @usableFromInline let key: Key

    /// Returns whether the candidate is visited before another one.
    @inlinable
    func precedes(_ other: Candidate) -> Bool {
      position == other.position ? bytes.rawSpan.precedes(other.bytes.rawSpan) : position < other.position
    }
  }

  @usableFromInline var first: ArraySlice<Candidate>
  /// The candidates that were added later. A separate list, so that an addition does not move all others.
  @usableFromInline var later: ArraySlice<Candidate> = []

  /// - Complexity: O(*n* log *n*)
  init(_ candidates: [Candidate]) {
    first = candidates.sorted { $0.precedes($1) }[...]
  }

  /// The candidate that is visited next.
  @inlinable
  var next: Candidate? {
    guard let added = later.first else { return first.first }
    guard let other = first.first else { return added }
    return added.precedes(other) ? added : other
  }

  /// Removes and returns the candidate that is visited next.
  @inlinable
  mutating func popNext() -> Candidate? {
    guard let added = later.first else { return first.popFirst() }
    guard let other = first.first else { return later.popFirst() }
    return added.precedes(other) ? later.popFirst() : first.popFirst()
  }

  /// Adds candidates with different keys. Those that are present stay.
  ///
  /// - Complexity: O(*k* log *n* + *l*) for *k* candidates and *l* later ones. Once in *n* / 16 additions, O(*n*).
  mutating func add(_ candidates: [Candidate]) {
    let unknown = candidates.filter { !Self.contains($0, in: first) && !Self.contains($0, in: later) }
    if unknown.isEmpty { return }
    later = Self.merged(later, unknown.sorted { $0.precedes($1) }[...])
    if later.count > max(1024, first.count / 16) {
      first = Self.merged(first, later)
      later = []
    }
  }

  private static func contains(_ candidate: Candidate, in list: ArraySlice<Candidate>) -> Bool {
    var (start, end) = (list.startIndex, list.endIndex)
    while start < end {
      let middle = start + (end - start) / 2
      if list[middle].precedes(candidate) { start = middle + 1 } else { end = middle }
    }
    return start < list.endIndex && !candidate.precedes(list[start])
  }

  private static func merged(_ one: ArraySlice<Candidate>, _ other: ArraySlice<Candidate>) -> ArraySlice<Candidate> {
    var (one, other, result) = (one, other, [Candidate]())
    result.reserveCapacity(one.count + other.count)
    while let left = one.first, let right = other.first {
      result.append(right.precedes(left) ? right : left)
      if right.precedes(left) { other.removeFirst() } else { one.removeFirst() }
    }
    result += one
    result += other
    return result[...]
  }
}
