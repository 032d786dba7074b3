import Synchronization

/// The expected hits of an entry per unit of time in memory, by number of uses and age.
///
/// An entry can be evicted now or at any later age. Its density is the maximum over these ages of the expected uses
/// until then, divided by the expected time until then. The density of an entry in a loop therefore increases as
/// its next use approaches. The density of an entry in a burst drops to almost zero after the burst.
///
/// This is the index of J. C. Gittins, "Bandit processes and dynamic allocation indices" (J. R. Stat. Soc. B,
/// 1979), applied to the lifetimes of LHD.
///
/// All shards of a cache read the same densities without a lock. A shard that reads during a computation can get some
/// old and some new densities, which are equally good estimates.
@safe
final class HitDensities: Sendable {
  // The bit pattern of one density for each class of uses and ages. The memory is allocated by `init` and freed by
  // `deinit`, and every access is atomic. The buffer is not an array, because each eviction reads about ten elements
  // and would pay for their checks.
  private nonisolated(unsafe) let densities: UnsafeMutablePointer<Atomic<UInt32>>

  init() {
    unsafe densities = .allocate(capacity: LifetimeClass.count)
    for index in 0..<LifetimeClass.count { unsafe (densities + index).initialize(to: Atomic(0)) }
  }

  deinit {
    // Atomic integers need no deinitialization.
    unsafe densities.deallocate()
  }

  /// Recomputes all densities.
  ///
  /// - Parameters:
  ///   - lifetimes: The observed lifetimes.
  ///   - scale: The number of entries, which determines the densities of classes without observations.
  func learn(_ lifetimes: borrowing LifetimeStatistics, scale: Float) {
    var spans = FutureSpans()
    let known = lifetimes.knownAges
    let widths = LifetimeClass.widths
    for useClass in 0..<LifetimeClass.useClasses {
      let chances = lifetimes.chances(ofUses: useClass, scale: scale)
      spans.removeAll()
      for age in (0..<known).reversed() {
        let density = spans.best(with: widths[age], chance: chances[age])
        store(density, useClass: useClass, age: age)
        guard age == known - 1 else { continue }
        // Ages above the oldest known class have the same density as that class.
        for later in known..<LifetimeClass.ageClasses { store(density, useClass: useClass, age: later) }
      }
    }
  }

  private func store(_ density: Float, useClass: Int, age: Int) {
    // In bounds: each class is below the number of classes.
    let index = useClass * LifetimeClass.ageClasses + age
    unsafe densities[index].store(density.bitPattern, ordering: .relaxed)
  }

  /// The density of an entry with this number of uses and this age.
  @inline(__always)
  subscript(uses: UInt8, age: UInt32) -> Float {
    // In bounds: both classes are below the number of classes.
    Float(bitPattern: unsafe densities[LifetimeClass.index(uses: uses, age: age)].load(ordering: .relaxed))
  }
}

/// A stack of the future age spans of an entry, with the nearest span last.
private struct FutureSpans: ~Copyable {
  /// A span of ages, for an entry that is present at its beginning. It has the expected uses in the span, the
  /// expected time spent in it, and the probability that the entry remains unused.
  private struct Span {
    var used: Float
    var waited: Float
    var left: Float
  }

  private var spans = InlineArray<48, Span>(repeating: Span(used: 0, waited: 0, left: 0))
  private var count = 0

  mutating func removeAll() { count = 0 }

  /// Adds an age class and returns the greatest density from that class on, over all ages of eviction.
  ///
  /// The class must precede all classes in the stack. A new span merges with the next one while the next one is
  /// denser. The densities in the stack therefore decrease with age. The merges take amortized constant time for
  /// each class. A separate evaluation of each eviction age would take quadratic time.
  @inline(__always)
  mutating func best(with width: Float, chance: Float) -> Float {
    var span = Span(used: chance, waited: width * (1 - chance / 2), left: 1 - chance)
    while count > 0, spans[count - 1].used * span.waited > span.used * spans[count - 1].waited {
      let next = spans[count - 1]
      span.used += span.left * next.used
      span.waited += span.left * next.waited
      span.left *= next.left
      count -= 1
    }
    spans[count] = span
    count += 1
    return span.used / span.waited
  }
}
