// Eight stations, one screen each. The button of a station calls `act` with the object `page` of page.js.
'use strict';
const stations = [
  {title: 'A gradient', text: [
    'A network is one long computation. Training asks of every number in it: if this number grew a little, how would the result change? The answer is the number\'s gradient.',
    'Here e = ab (ab + a). Each box shows a step, its value and its gradient. The gradients are found from the last box to the first.'],
    button: 'Compute for a = 2 and b = 3', act: page => page.expression(2, 3)},
  {title: 'Softmax', text: [
    'A model gives each possible answer a score. Softmax turns scores into shares: all are above 0, and their sum is 1.',
    'A score that is larger by 1 gets 2.7 times the share. Only differences count.'],
    button: 'Shares of the scores 2, 1, 0.5, 0', act: page => page.softmax([2, 1, 0.5, 0])},
  {title: 'One head', text: [
    'A head lets every position read from earlier ones. It scores each earlier position, softmax makes shares of the scores, and the position gets a mean with these shares.',
    'Train one layer with one head on copying. The bright cells show where each row reads.'],
    button: 'Train one head', act: page => page.begin('copy', {'model.n_layer': '1', 'model.n_head': '1', 'training.max_iters': '400'})},
  {title: 'Positions', text: [
    'Attention alone sees which symbols stand before, not where. So the model is told positions.',
    'This model is not told. It copies badly: it cannot know which symbol comes next.'],
    button: 'Train without positions', act: page => page.begin('copy', {'model.position': 'none', 'training.max_iters': '400'})},
  {title: 'The block', text: [
    'A block is attention and a small network. Each adds what it finds to a stream of numbers. A GPT is a stack of blocks.',
    'The graph shows what a step computes, folded by parts.'],
    button: 'Draw the graph', act: page => page.drawGraph()},
  {title: 'Copying', text: [
    'One layer learns to repeat ten symbols. The loss starts at that of guessing, the dashed line. After a few hundred steps all answers are right.',
    'In the heads a bright line appears. It lies ten positions back: there stands the symbol to be said next.'],
    button: 'Train it to copy', act: page => page.begin('copy', {'model.n_layer': '1'})},
  {title: 'Induction', text: [
    'Each row of letters begins again after a while. The model has to find out where. No position tells it.',
    'A head of the first layer looks one back. Then a head of the second finds what followed the same letter before. It appears suddenly, and the loss falls.'],
    button: 'Train on induction', act: page => page.begin('induction', {'task.length': '12', 'task.symbols': '16', 'model.n_head': '2', 'model.n_embd': '16', 'training.eval_interval': '50'})},
  {title: 'A head taken out', text: [
    'Which head does the work? Take it out, and ask again. If the answers become wrong, the model needs it.',
    'First train on copying or induction. Then take out one head after the other, and put it back.'],
    button: 'Take out the head that is shown', act: page => page.toggleHead()},
];
