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
    var ages = 0
    for useClass in 0..<LifetimeClass.useClasses {
      let chances = lifetimes.chances(ofUses: useClass, scale: scale)
      ages = chances.count
      densities += chances.indices.map { Self.best(from: $0, chances) }
    }
    self.ages = ages
  }

  /// The density of an entry that was used so many times, so long ago.
  subscript(uses: UInt8, age: UInt32) -> Float {
    densities[LifetimeClass.ofUses(uses) * ages + min(LifetimeClass.ofAge(age), ages - 1)]
  }

  /// The best that can be had from a class of age on, for any age of letting go.
  private static func best(from age: Int, _ chances: [Float]) -> Float {
    var best: Float = 0
    var (left, used, waited): (Float, Float, Float) = (1, 0, 0)
    for later in age..<chances.count where left > 1e-4 {
      used += left * chances[later]
      waited += left * LifetimeClass.width(ofAge: later) * (1 - chances[later] / 2)
      left *= 1 - chances[later]
      best = max(best, used / waited)
    }
    return best
  }
}
