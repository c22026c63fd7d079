// Eight stations, one screen each. `act` is what the button does, and returns what the station says then; page.js gives it the
// page. `look` is the heading under which there is something to see.
'use strict';
const takeOut = page => page.toggleHead();
const stations = [
  {title: 'A gradient', text: [
    'A network is one long computation. Training asks of every number in it: if this number grew a little, how much would the result change? The answer is the number\'s gradient.',
    'Here e = ab (ab + a). Each box is a step, with its value and its gradient. Gradients are found backwards: each box hands its gradient on to the boxes from which it was computed.'],
    button: 'Compute for a = 2 and b = 3', act: page => page.expression(2, 3)},
  {title: 'Softmax', text: [
    'A model gives each possible answer a score. Softmax turns scores into shares: all are above 0, and their sum is 1.',
    'Only differences count. A score that is larger by 1 gets 2.7 times the share, because softmax is built on powers of 2.718.'],
    button: 'Shares of the scores 2, 1, 0.5, 0', act: page => page.softmax([2, 1, 0.5, 0])},
  {title: 'One head', text: [
    'A model reads a row of symbols. Each place in the row is a position, and has a list of numbers. A head lets every position read from the earlier ones. It scores each of them, softmax makes shares of the scores, and the position gets the mean of their lists with these shares. This is attention.',
    'Train one layer with one head on copying: ten symbols, the separator |, then the same ten. In the head\'s picture a row is a position that reads. Its bright cells are the positions from which it reads much.'],
    look: 'heads-title',
    button: 'Train one head', act: page => page.begin('copy', {'model.n_layer': '1', 'model.n_head': '1', 'training.max_iters': '400'})},
  {title: 'Positions', text: [
    'Attention sees which symbols stand before, but not where they stand. So a model is told the positions, too.',
    'This model is not told. It finds most of the right symbols, but says them in a wrong order.'],
    look: 'answers-title',
    button: 'Train without positions', act: page => page.begin('copy', {'model.position': 'none', 'training.max_iters': '400'})},
  {title: 'The block', text: [
    'A block, or layer, is attention and a small network. Each adds what it finds to the list of numbers at its position, so nothing that was there is lost. The list, with all that was added, is called the stream. A GPT is a stack of blocks.',
    'The graph shows what a training step computes. Where an arrow leads round a part to a box "add", the stream goes on.'],
    look: 'graph-title',
    button: 'Draw the graph', act: page => page.drawGraph()},
  {title: 'Copying', text: [
    'One layer with four heads learns to repeat ten symbols. Its loss begins at the dashed line: an untrained model can only guess among 11 symbols. After a few hundred steps all answers are right.',
    'In the heads a bright line appears. It lies ten positions back: there stands the symbol to be said next.'],
    look: 'heads-title',
    button: 'Train it to copy', act: page => page.begin('copy', {'model.n_layer': '1'})},
  {title: 'Induction', text: [
    'Each row of letters begins again after a while, each time after another number of letters. So a fixed distance does not help: the model has to find out where the row begins again.',
    'In layer 0 a head looks one position back. So every position knows the letter before it. In layer 1 a head looks for a position that has the present letter before it, and reads the letter there: what followed the last time follows now. This skill appears suddenly, and the loss falls.'],
    look: 'heads-title',
    button: 'Train on induction', act: page => page.begin('induction', {'task.length': '12', 'task.symbols': '16', 'model.n_head': '2', 'model.n_embd': '16', 'training.eval_interval': '50'})},
  {title: 'A head taken out', text: [
    'Which head does the work? Take a head out, and the model is asked all questions again. If fewer answers are right, the model needs that head.',
    'Train at station 7 first: there a head of each layer is needed. In copying any one of the four heads is enough, so taking out one changes nothing. Choose a head, take it out, and put it back.'],
    look: 'heads-title',
    button: page => page.isOut() ? 'Put the head back' : 'Take out the head that is shown', act: takeOut},
];
