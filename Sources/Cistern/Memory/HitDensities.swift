/// What an entry promises, by how often it was used and how long ago: hits for the time that it takes up its place.
///
/// An entry may be kept until any later age and let go of then. Its density is that of the best such age: uses expected until
/// then, by the time spent waiting for them. So an entry of a loop that comes round late is worth more the nearer its
/// turn is, and one of a burst nothing once the burst is over. It is the index of J. C. Gittins, "Bandit processes and
/// dynamic allocation indices" (J. R. Stat. Soc. B, 1979), over the lifetimes of LHD.
@safe
struct HitDensities: ~Copyable {
  // One for each class of uses and of age; owned. Not an array: each eviction looks at ten of them.
  private let densities: UnsafeMutablePointer<Float>

  /// - Parameter scale: the number of entries, for what is not known yet.
  init(_ lifetimes: borrowing LifetimeStatistics, scale: Float) {
    unsafe densities = .allocate(capacity: LifetimeClass.count)
    unsafe densities.initialize(repeating: 0, count: LifetimeClass.count)
    learn(lifetimes, scale: scale)
  }

  deinit {
    unsafe densities.deallocate()
  }

  /// Computes all of them anew.
  mutating func learn(_ lifetimes: borrowing LifetimeStatistics, scale: Float) {
    var spans = SpansToCome()
    let known = lifetimes.knownAges
    let widths = LifetimeClass.widths
    for useClass in 0..<LifetimeClass.useClasses {
      let chances = lifetimes.chances(ofUses: useClass, scale: scale)
      // In bounds: classes are below their numbers.
      let row = unsafe densities + useClass * LifetimeClass.ageClasses
      spans.removeAll()
      for age in (0..<known).reversed() {
        unsafe row[age] = spans.best(with: widths[age], chance: chances[age])
      }
      // What is older than all of which anything is known is as old as that.
      for age in known..<LifetimeClass.ageClasses { unsafe row[age] = row[known - 1] }
    }
  }

  /// The density of an entry that was used so many times, so long ago.
  @inline(__always)
  subscript(uses: UInt8, age: UInt32) -> Float {
    // In bounds: classes are below their numbers.
    unsafe densities[LifetimeClass.ofUses(uses) &* LifetimeClass.ageClasses &+ LifetimeClass.ofAge(age)]
  }
}

/// The spans of ages that are still to come for one who waits, the nearest last.
private struct SpansToCome: ~Copyable {
  /// Ages that are waited for together: what is had and spent between the first and the last, and who is left after
  /// that, of one who was there at the first.
  private struct Span {
    var used: Float
    var waited: Float
    var left: Float
  }

  private var spans = InlineArray<48, Span>(repeating: Span(used: 0, waited: 0, left: 0))
  private var count = 0

  mutating func removeAll() { count = 0 }

  /// The best that can be had from a class of age on, for any age of letting go. The class comes before those that are there.
  ///
  /// Who waits for the age goes on to the span after it as long as that promises more than what there is until then: so the
  /// spans promise less and less, and each age joins them in a few steps, where to try each age of letting go would
  /// take as many as there are ages.
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
