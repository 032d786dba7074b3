/// A counter that a write adds one to.
@usableFromInline
enum WriteCounter: Sendable, Hashable {
  case stored
  case removed
  case refused
  case migrated
  case expired
  case undecodable
  case outdated
}

extension ShardCounters {
  @inlinable
  @inline(__always)
  mutating func count(_ counter: WriteCounter) {
    switch counter {
    case .stored: stores += 1
    case .removed: removals += 1
    case .refused: refused += 1
    case .migrated: migrated += 1
    case .expired: expirations += 1
    case .undecodable: notDecodable += 1
    case .outdated: dropped += 1
    }
  }

  @inlinable
  @inline(__always)
  mutating func count(_ hit: RecordHit) {
    switch hit {
    case .uncounted: break
    case .fresh: diskHits += 1
    case .stale:
      diskHits += 1
      staleHits += 1
    }
  }
}
