/// What an entry promises, by how often it was used and how long ago: hits for the time that it takes up its place.
///
/// An entry may be kept until any later age and let go of then. Its density is that of the best such age: uses expected until
/// then, by the time spent waiting for them. So an entry of a loop that comes round late is worth more the nearer its
/// turn is, and one of a burst nothing once the burst is over. It is the index of J. C. Gittins, "Bandit processes and
/// dynamic allocation indices" (J. R. Stat. Soc. B, 1979), over the lifetimes of LHD.
struct HitDensities {
  private var densities: [Float] = []
  /// The number of classes of age that differ.
  private let ages: Int

  /// - Parameter scale: the number of entries, for what is not known yet.
  init(_ lifetimes: LifetimeStatistics, scale: Float) {
    ages = lifetimes.knownAges
    densities = [Float](repeating: 0, count: LifetimeClass.useClasses * ages)
    var spans: [Span] = []
    spans.reserveCapacity(ages)
    for useClass in 0..<LifetimeClass.useClasses {
      let chances = lifetimes.chances(ofUses: useClass, scale: scale)
      spans.removeAll(keepingCapacity: true)
      for age in chances.indices.reversed() {
        densities[useClass * ages + age] = Self.best(from: age, chance: chances[age], before: &spans)
      }
    }
  }

  /// The density of an entry that was used so many times, so long ago.
  subscript(uses: UInt8, age: UInt32) -> Float {
    densities[LifetimeClass.ofUses(uses) * ages + min(LifetimeClass.ofAge(age), ages - 1)]
  }

  /// Ages that are waited for together: what is had and spent between the first and the last, and who is left after
  /// that, of one who was there at the first.
  private struct Span {
    var used: Float
    var waited: Float
    var left: Float
  }

  /// The best that can be had from a class of age on, for any age of letting go.
  ///
  /// Who waits for the age goes on to the span after it as long as that promises more than what there is until then: so the
  /// spans promise less and less, and each age joins them in a few steps, where to try each age of letting go would
  /// take as many as there are ages.
  private static func best(from age: Int, chance: Float, before spans: inout [Span]) -> Float {
    var span = Span(used: chance, waited: LifetimeClass.width(ofAge: age) * (1 - chance / 2), left: 1 - chance)
    while let next = spans.last, next.used * span.waited > span.used * next.waited {
      span.used += span.left * next.used
      span.waited += span.left * next.waited
      span.left *= next.left
      spans.removeLast()
    }
    spans.append(span)
    return span.used / span.waited
  }
}
