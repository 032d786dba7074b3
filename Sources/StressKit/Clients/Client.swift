import CisternTesting
import Cistern

/// A user of the cache. It performs random operations, one after the other, and checks their results.
struct Client: ~Copyable {
  let runState: RunState
  let origin: any Origin
  let holder: SubjectHolder
  let tally: Tally
  /// The representation of this client in exercises.
  let performer: Performer
  var generator: SeededGenerator
  var subject: Subject
  var observing = ClientObservers()

  private let mix: OperationMix
  /// The number of operations between two yields of the thread.
  private static let burst = 32

  init(index: Int, runState: RunState, origin: any Origin, holder: SubjectHolder, tally: ClientTally) {
    self.runState = runState
    self.origin = origin
    self.holder = holder
    self.tally = tally.main
    mix = runState.configuration.profile.settings.mix
    generator = SeededGenerator(seed: runState.configuration.seed, index: index)
    // A separate generator: the draws of exercises do not change the client's other choices.
    performer = Performer(
      number: index, tally: tally.exercises,
      generator: SeededGenerator(seed: runState.configuration.seed ^ 0xE8E2, index: index))
    subject = holder.current
  }

  var cache: Cache<String, [UInt8]> { subject.cache }

  /// Performs operations until the run ends.
  mutating func work() async {
    runState.barrier.join()
    while case let count = runState.stop.take(Client.burst), count > 0 {
      for _ in 0..<count {
        if runState.barrier.isClosed { await stepAside() }
        if runState.stop.isInterrupted { break }
        await perform(mix.next(using: &generator))
      }
      await Task.yield()
    }
    await observing.endAll(runState)
    runState.barrier.leave()
  }

  /// Parks at the barrier. Afterwards, uses the subject that is current then.
  private mutating func stepAside() async {
    await observing.endAll(runState)
    await runState.barrier.park()
    subject = holder.current
  }

  private mutating func perform(_ operation: Operation) async {
    let key = runState.chooser.next(using: &generator)
    switch operation {
    case .lookUp: lookUp(key)
    case .load: await load(key)
    case .loadOtherwise: await load(key, LoadChoice.next(using: &generator))
    case .view: view(key)
    case .bulkLoad: await bulkLoad()
    case .cancel: await cancelSome(key)
    case .write: write(key)
    case .commit: await commit(key)
    case .writeOversize: writeOversize(key)
    case .remove: remove(key)
    case .commitRemoval: await commitRemoval(key)
    case .observe: await observing.change(key, of: cache, runState, using: &generator)
    case .removeAll: removeAll()
    case .removeTagged: await removeTagged(key)
    case .removePrefix: await removePrefix(key)
    case .trim: trim()
    case .outage, .breaker, .outcome, .merge, .count, .pair, .transfer, .edit, .recall, .contents, .backup:
      await runState.exercises[operation]?.perform(by: performer)
    }
  }
}
