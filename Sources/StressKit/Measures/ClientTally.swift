import Histogram

/// The tallies of one client: of operations on the stressed cache, and of exercises.
struct ClientTally: Sendable {
  let main = Tally()
  let exercises = Tally()
}
